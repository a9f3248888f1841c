/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share.h - blocks of objects that are read repeatedly, in memory that clients read by RDMA, so
 * that no process of the server wakes up.
 *
 * A block is filled when it is read for the second time, unless its object is being changed, or
 * is changed while the block is being filled.  Each change of an object removes all of its
 * blocks before it begins.  So at any time a block in the table holds what a read of the object
 * would return.
 *
 * All functions except share_open() and share_close() may be called from any thread.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stddef.h>
#include <stdint.h>

struct share;

/*
 * Reads up to WIRE_BLOCK bytes from off on, fewer only at the end of the object.  Returns their
 * number or -errno.  Does not block.
 */
typedef int (*share_read)(void *arg, void *buf, uint64_t off);

/* bytes: size of the table, which has at least one place.  -ENOMEM. */
int share_open(uint64_t bytes, struct share **share);
/* NULL: does nothing, as do all functions below except share_memory(). */
void share_close(struct share *share);
/* The table's memory, in whole pages, and the number of its places, a struct wire_block each. */
void *share_memory(const struct share *share, size_t *len, uint64_t *places);

/* Call them around each change of the object, by this or another process. */
void share_enter(struct share *share, uint64_t handle);
void share_leave(struct share *share, uint64_t handle);
/* Block `number` of the object was read: fills its place if this is the second time. */
void share_seen(struct share *share, uint64_t handle, uint64_t number,
		share_read read, void *arg);
/* Blocks filled so far; blocks in the table now. */
uint64_t share_filled(const struct share *share);
unsigned int share_blocks(const struct share *share);

#endif

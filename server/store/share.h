/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share.h - blocks of objects that are read again and again, in memory that clients read by
 * RDMA, so that nobody wakes up.
 *
 * A block is filled when it is read for the second time, unless its object is being
 * changed or was while it was filled.  Every change of an object takes all of its blocks
 * away before it begins: what stands here is what any read would get, at every moment.
 *
 * All functions but share_open() and share_close() may be called from any thread.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stddef.h>
#include <stdint.h>

struct share;

/*
 * Up to WIRE_BLOCK bytes from off on, fewer only where the object ends: how many, or
 * -errno.  Does not block.
 */
typedef int (*share_read)(void *arg, void *buf, uint64_t off);

/* bytes: of the table, at least one place of it.  -ENOMEM. */
int share_open(uint64_t bytes, struct share **share);
/* NULL: nothing happens, here and in all functions below. */
void share_close(struct share *share);
/* The table's, whole pages; and its places, struct wire_block each. */
void *share_memory(const struct share *share, size_t *len, uint64_t *places);

/* Around each change of the object, by this process or by others. */
void share_enter(struct share *share, uint64_t handle);
void share_leave(struct share *share, uint64_t handle);
/* Somebody reads that block. */
void share_seen(struct share *share, uint64_t handle, uint64_t number,
		share_read read, void *arg);
/* Blocks that were filled so far, and that are there now. */
uint64_t share_filled(const struct share *share);
unsigned int share_blocks(const struct share *share);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block_table.h - blocks of objects that are read repeatedly, in memory that clients read by RDMA,
 * so that no process of the server wakes up.
 *
 * A block is filled when it is read for the second time, unless its object is being changed, or is
 * changed while the block is being filled.  Each change of an object removes all of its blocks
 * before it begins.  So at any time a block in the table holds what a read of the object would
 * return.
 *
 * All functions except block_table_open() and block_table_close() may be called from any thread.
 */
#ifndef BLOCK_TABLE_H
#define BLOCK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct block_table;

/*
 * Reads up to WIRE_BLOCK bytes from off on, fewer only at the end of the object.  Returns their
 * number or -errno.  Does not block.
 */
typedef int (*block_read_fn)(void *arg, void *buf, uint64_t off);

/* bytes: size of the table, which has at least one place.  -ENOMEM. */
int block_table_open(uint64_t bytes, struct block_table **table);
/*
 * For a NULL table, this and all functions below do nothing, except block_table_memory(), which
 * needs a table.
 */
void block_table_close(struct block_table *table);
/* The table's memory, in whole pages, and the number of its places, a struct wire_block each. */
void *block_table_memory(const struct block_table *table, size_t *len,
			 uint64_t *places);

/* Call them around each change of the object, by this or another process. */
void block_table_change_begin(struct block_table *table, uint64_t handle);
void block_table_change_end(struct block_table *table, uint64_t handle);
/* Block `number` of the object was read: fills its place if this is the second time. */
void block_table_note_block(struct block_table *table, uint64_t handle,
			    uint64_t number, block_read_fn read, void *arg);
/* Blocks filled so far; blocks in the table now. */
uint64_t block_table_filled(const struct block_table *table);
unsigned int block_table_blocks(const struct block_table *table);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocks.h - the bytes of a data type as a list of blocks, in the order of the type map.
 * Neighbours are merged, and no block is empty.  Pure: no MPI.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All 0: no bytes.  blocks_free() frees at and len. */
struct blocks {
	int64_t *at; /* offset of each block in bytes; may be negative */
	int64_t *len; /* bytes of each block, > 0 */
	size_t n, max;
};

/* Appends one block; ignores 0 bytes.  Returns 0 or -ENOMEM. */
int blocks_add(struct blocks *b, int64_t at, int64_t len);
/*
 * Appends n copies of what: the first shifted by at bytes, each other by stride more than
 * the one before.  what must not be b.  Returns 0 or -ENOMEM.
 */
int blocks_repeat(struct blocks *b, const struct blocks *what, int64_t at,
		  int64_t n, int64_t stride);
void blocks_free(struct blocks *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocks.h - the bytes of a data type as a list of blocks, in the order of the
 * type map, neighbours merged, none of them empty.  Pure: no MPI.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All 0: no bytes.  blocks_free() frees at and len. */
struct blocks {
	int64_t *at; /* of each block, bytes; may be negative */
	int64_t *len; /* of each block, > 0 */
	size_t n, max;
};

/* Adds one block behind the others, of 0 bytes none.  0 or -ENOMEM. */
int blocks_add(struct blocks *b, int64_t at, int64_t len);
/*
 * Adds n copies of what, the first moved by at, each other by stride more than
 * the one before it.  what is another list than b.  0 or -ENOMEM.
 */
int blocks_repeat(struct blocks *b, const struct blocks *what, int64_t at,
		  int64_t n, int64_t stride);
void blocks_free(struct blocks *b);

#endif

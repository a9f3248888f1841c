/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tiles.h - a flattened data type, repeated for ever, as a stream of bytes.
 *
 * Pure: no MPI, no files.  Byte p of the stream lies in tile p / size; there
 * the blocks follow one another in the order of the lists.
 */
#ifndef TILES_H
#define TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One repetition; the lists stay the caller's. */
struct tile {
	const int64_t *at; /* of each block from the tile's start; bytes */
	const int64_t *len; /* of each block; may be 0 */
	size_t n; /* blocks */
	int64_t extent; /* from tile to tile */
	int64_t size; /* bytes of all blocks, > 0 */
};

/* A place in the stream. */
struct cursor {
	const struct tile *tile;
	int64_t base; /* where tile 0 lies */
	int64_t number; /* of the tile */
	size_t block;
	int64_t into; /* bytes of the block that are behind us */
};

/* Byte pos of the stream whose tile 0 lies at base. */
void cursor_at(struct cursor *c, const struct tile *tile, int64_t base,
	       int64_t pos);
/*
 * The first byte of the stream whose place is not before where; places have
 * to ascend, as those of a file view do.
 */
void cursor_seek(struct cursor *c, const struct tile *tile, int64_t base,
		 int64_t where);
/* The place of the next byte, and how many follow in one piece (> 0). */
int64_t cursor_place(const struct cursor *c);
int64_t cursor_run(const struct cursor *c);
/* Goes on by n bytes, at most cursor_run(). */
void cursor_advance(struct cursor *c, int64_t n);

/* Pieces, neighbours merged. */
struct pieces {
	int64_t *at, *len;
	size_t n, max;
};

/* Adds a piece, or lengthens the last one; false: full, nothing added. */
bool pieces_add(struct pieces *p, int64_t at, int64_t len);
/*
 * Takes bytes from both streams, the same count from each, until left is 0
 * or one of the lists is full; answers the count.
 */
int64_t pieces_fill(struct pieces *mem, struct cursor *from,
		    struct pieces *file, struct cursor *to, int64_t left);

#endif

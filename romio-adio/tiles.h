/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tiles.h - a flattened data type, repeated endlessly, as a stream of bytes.  Pure: no
 * MPI, no files.  Byte p of the stream is in tile p / size; in a tile, blocks follow in
 * the order of the lists.
 */
#ifndef TILES_H
#define TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t min_int64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One repetition.  The caller owns the lists. */
struct tile {
	/* offset of each block from the start of the tile, in bytes */
	const int64_t *at;
	const int64_t *len; /* bytes of each block; may be 0 */
	size_t n; /* number of blocks */
	int64_t extent; /* bytes from tile to tile */
	int64_t size; /* bytes of all blocks, > 0 */
};

/* A position in the stream. */
struct cursor {
	const struct tile *tile;
	int64_t base; /* position of tile 0 */
	int64_t number; /* number of the tile */
	size_t block;
	int64_t into; /* bytes of the block before the position */
};

/* Moves c to byte pos of a stream whose tile 0 begins at base. */
void cursor_at(struct cursor *c, const struct tile *tile, int64_t base,
	       int64_t pos);
/*
 * Moves c to the first byte of the stream whose place is not before where.  The places of the
 * stream must ascend, like those of a file view.
 */
void cursor_seek(struct cursor *c, const struct tile *tile, int64_t base,
		 int64_t where);
/*
 * cursor_place() returns the place of the next byte.  cursor_run() returns how many bytes follow
 * contiguously from there (> 0).
 */
int64_t cursor_place(const struct cursor *c);
int64_t cursor_run(const struct cursor *c);
/* Advances by n bytes, at most cursor_run(). */
void cursor_advance(struct cursor *c, int64_t n);

/* A list of pieces, in which contiguous neighbours are merged. */
struct pieces {
	int64_t *at, *len;
	size_t n, max;
};

/* Adds a piece, or extends the last one.  False: full, nothing added. */
bool pieces_add(struct pieces *p, int64_t at, int64_t len);
/*
 * Moves both cursors over the same bytes, and adds the pieces to both lists, until left is 0 or one
 * of the lists is full.  Returns the number of bytes.
 */
int64_t pieces_fill(struct pieces *mem, struct cursor *from,
		    struct pieces *file, struct cursor *to, int64_t left);

/*
 * The bytes of a data type as a list of blocks, in the order of the type map.  Neighbours are
 * merged, and no block is empty.  All 0: no bytes.  blocks_free() frees at and len.
 */
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

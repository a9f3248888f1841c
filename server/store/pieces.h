/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.h - what the engines share: a store_io, piece by piece. */
#ifndef PIECES_H
#define PIECES_H

#include "server/store/sieve.h"

/* Of a piece from skip on, at most left. */
static inline size_t piece_len(const struct store_seg *seg, uint64_t skip,
			       size_t left)
{
	return seg->len - skip < left ? (size_t)(seg->len - skip) : left;
}

/*
 * Goes on from io->pos; seg and skip are where that is, and are moved on.
 * Zeros behind the end of the object.  0, or the error of read().
 */
int pieces_read(struct store_io *io, sieve_read_fn read);

typedef int (*pieces_write_fn)(struct store_obj *obj, const void *buf,
			       size_t len, uint64_t off);
/*
 * In time, or -ETIMEDOUT.  All of it, or the error of write(), which may leave a part
 * written.
 */
int pieces_write(struct store_io *io, pieces_write_fn write);

#endif

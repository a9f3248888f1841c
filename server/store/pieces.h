/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.h - reading and writing a store_io piece by piece, for both engines. */
#ifndef PIECES_H
#define PIECES_H

#include "server/store/sieve.h"

/* The length of a piece from skip on, at most left. */
static inline size_t piece_len(const struct store_seg *seg, uint64_t skip,
			       size_t left)
{
	return seg->len - skip < left ? (size_t)(seg->len - skip) : left;
}

/*
 * Continues from io->pos, seg and skip, and advances them.  Fills with zeros the part beyond
 * the end of the object.  0, or the error of read().
 */
int pieces_read(struct store_io *io, sieve_read_fn read);

typedef int (*pieces_write_fn)(struct store_obj *obj, const void *buf,
			       size_t len, uint64_t off);
/*
 * Writes all bytes.  -ETIMEDOUT: the expiry has passed and nothing was written.  Or the error
 * of write(); then a part may be written.
 */
int pieces_write(struct store_io *io, pieces_write_fn write);

#endif

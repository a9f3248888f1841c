/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sieve.h - many small pieces of an object in few calls to the file system.  The pieces are
 * sorted, and neighbours are merged.  If the holes between pieces are small, the whole extent
 * is read at once and the pieces are copied out of it (data sieving, Thakur et al., Frontiers
 * 1999; done by the server instead of ROMIO).
 *
 * Writes do not sieve.  Holes are not written back, so concurrent writes of other clients into
 * them are kept.
 */
#ifndef SIEVE_H
#define SIEVE_H

#include "server/store/store_engine.h"

/*
 * Reading a hole and copying the piece once more has to cost less than one more call.  A call
 * costs about 0.25 us, or 2 KiB from the page cache (measured).
 */
#define SIEVE_COST 2048u /* bytes of a piece and the hole before it */
/* bytes read at once; fits into the CPU's cache */
#define SIEVE_EXTENT (64u << 10)
#define SIEVE_BATCH 512u /* pieces sorted together */

/* Whether sieving the last `left` bytes of io is faster than one call for each piece. */
bool sieve_pays(const struct store_io *io, size_t left);

typedef int (*sieve_read_fn)(struct store_obj *obj, void *buf, size_t len,
			     uint64_t off, size_t *done);
/*
 * Reads the pieces from io->pos, seg and skip on, and advances these past each batch that is done.
 * A batch is done as a whole or not at all.  Returns 0, or the error of read().
 */
int sieve_read(struct store_io *io, sieve_read_fn read);
/* Writes all bytes of io.  After an error, a part of them may be written. */
int sieve_write(const struct store_io *io);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sieve.h - many small pieces of an object in few calls to the file system:
 * sorted, neighbours together, and when the holes between them are small the
 * whole extent is read at once and the pieces are taken out of it (data
 * sieving, Thakur et al., Frontiers 1999; by the server instead of ROMIO).
 *
 * Writes never sieve: a hole is not written back, so that what another client
 * writes into it meanwhile stays.
 */
#ifndef SIEVE_H
#define SIEVE_H

#include "server/store/store_engine.h"

/*
 * Reading a hole and copying the piece once more has to cost less than one
 * more call: measured, about 0.25 us or 2 KiB out of the page cache.
 */
#define SIEVE_COST 2048u /* bytes of a piece and the hole before it */
#define SIEVE_EXTENT (64u << 10) /* read at once: stays in the CPU's cache */
#define SIEVE_BATCH 512u /* pieces that are sorted together */

/* Whether the last left bytes of io are worth it, or one call each is best. */
bool sieve_pays(const struct store_io *io, size_t left);

typedef int (*sieve_read_fn)(struct store_obj *obj, void *buf, size_t len,
			     uint64_t off, size_t *done);
/*
 * Goes on from io->pos, seg and skip, which then are behind what was done;
 * batches are done whole or not at all.  0, or the error of read().
 */
int sieve_read(struct store_io *io, sieve_read_fn read);
/* All of it, or an error that may leave a part written. */
int sieve_write(const struct store_io *io);

#endif

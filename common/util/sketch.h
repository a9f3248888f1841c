/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sketch.h - which of very many keys most was done with lately, in the space of a few
 * (Metwally, Agrawal and El Abbadi, Efficient Computation of Frequent and Top-k Elements
 * in Data Streams).  A new key takes the place of the lightest one, and its weight; so a
 * key that weighs more than a SKETCH_MAX-th part of all has a place.  A weight is half
 * of what it was every SKETCH_HALF_NS.
 */
#ifndef SKETCH_H
#define SKETCH_H

#include <stdint.h>

#define SKETCH_MAX 64u
#define SKETCH_HALF_NS (UINT64_C(10) * 1000000000)
#define SKETCH_REQUEST 4096u /* bytes that a request weighs beside its own */

struct sketch_row {
	uint64_t key;
	uint64_t weight; /* at least that of the key, */
	uint64_t slack; /* ... and at most so much more */
	uint64_t requests, in, out; /* since it has its place */
};

/* Zero it.  One thread at a time. */
struct sketch {
	uint64_t key[SKETCH_MAX]; /* in row, too: to be looked through */
	struct sketch_row row[SKETCH_MAX];
	unsigned int n, last;
	uint64_t halved; /* clock_boot() */
};

/* A request about key, with so many bytes, at now: clock_boot(). */
void sketch_add(struct sketch *s, uint64_t key, uint64_t in, uint64_t out,
		uint64_t now);
/*
 * Adds what is in s to n rows, the heaviest first, at now; at most SKETCH_MAX remain.
 * Returns how many there are.
 */
unsigned int sketch_join(const struct sketch *s, uint64_t now,
			 struct sketch_row rows[2 * SKETCH_MAX],
			 unsigned int n);

#endif

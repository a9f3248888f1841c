/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sketch.h - finds, among very many keys, those with the most recent work, in little memory
 * (Metwally, Agrawal and El Abbadi, Efficient Computation of Frequent and Top-k Elements in Data
 * Streams). A new key replaces the lightest one and inherits its weight. So a key with more than a
 * SKETCH_MAX-th part of the total weight has a row. Weights are halved every SKETCH_HALF_NS.
 */
#ifndef SKETCH_H
#define SKETCH_H

#include <stdint.h>

#define SKETCH_MAX 64u
#define SKETCH_HALF_NS (UINT64_C(10) * 1000000000)
/* bytes that a request counts in addition to its own */
#define SKETCH_REQUEST 4096u

struct sketch_row {
	uint64_t key;
	uint64_t weight; /* the weight of the key is at most this, */
	uint64_t slack; /* ... and at least this much less */
	uint64_t requests, in, out; /* counted since the key got its row */
};

/* Set it to zero. One thread at a time. */
struct sketch {
	uint64_t key[SKETCH_MAX]; /* copies of row[].key, for a fast search */
	struct sketch_row row[SKETCH_MAX];
	unsigned int n, last;
	uint64_t halved; /* clock_boot() when the weights were halved last */
};

/* Counts a request for key, with that many bytes, at now: clock_boot(). */
void sketch_add(struct sketch *s, uint64_t key, uint64_t in, uint64_t out,
		uint64_t now);
/* Merges s into n rows, heaviest first, at now; at most SKETCH_MAX remain. Returns their number. */
unsigned int sketch_join(const struct sketch *s, uint64_t now,
			 struct sketch_row rows[2 * SKETCH_MAX],
			 unsigned int n);

#endif

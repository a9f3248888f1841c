/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rnd.h - random numbers of tests, determined by a seed.  The seed is fixed, or TEST_SEED.  It is
 * printed, so that a failure can be repeated.
 */
#ifndef RND_H
#define RND_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct rnd {
	uint64_t state;
};

static inline void rnd_init(struct rnd *r, uint64_t seed)
{
	const char *env = getenv("TEST_SEED");

	r->state = env ? strtoull(env, NULL, 0) : seed;
	printf("TEST_SEED=%" PRIu64 "\n", r->state);
}

/* splitmix64 */
static inline uint64_t rnd_next(struct rnd *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* In [lo, hi]. */
static inline uint64_t rnd_in(struct rnd *r, uint64_t lo, uint64_t hi)
{
	return lo + rnd_next(r) % (hi - lo + 1);
}

#endif

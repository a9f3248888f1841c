/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram.h - times in buckets. The width of a bucket grows with its time, so the error is at
 * most a quarter, from a microsecond to a minute:
 *
 *   0        1024   1280   1536   1792   2048    2560   ...   2^36 ns
 *   '- 0 ----'- 1 --'- 2 --'- 3 --'- 4 --'-- 5 --'-- 6 ...    '- the last ...
 *
 * As in HdrHistogram: each power of two has four buckets.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_FIRST 10u /* log2 of the start of bucket 1, ns */
#define HISTOGRAM_LAST 36u /* log2 of the start of the last bucket, ns */
#define HISTOGRAM_BUCKETS (4u * (HISTOGRAM_LAST - HISTOGRAM_FIRST) + 2u)

static inline unsigned int histogram_bucket(uint64_t ns)
{
	unsigned int log;

	if (ns >> HISTOGRAM_FIRST == 0)
		return 0;
	if (ns >> HISTOGRAM_LAST)
		return HISTOGRAM_BUCKETS - 1;
	log = 63u - (unsigned int)__builtin_clzll(ns);
	return 4 * (log - HISTOGRAM_FIRST) +
	       (unsigned int)(ns >> (log - 2) & 3) + 1;
}

/* Returns the shortest time in the bucket, in ns; UINT64_MAX for HISTOGRAM_BUCKETS. */
static inline uint64_t histogram_floor(unsigned int bucket)
{
	unsigned int log = HISTOGRAM_FIRST + (bucket - 1) / 4;

	if (!bucket)
		return 0;
	if (bucket >= HISTOGRAM_BUCKETS)
		return UINT64_MAX;
	return (UINT64_C(4) + (bucket - 1) % 4) << (log - 2);
}

/*
 * Counts how often something was done and how long it took. Any thread may count, and any thread
 * may read. For events that are much rarer than requests. Set it to zero.
 */
struct timing {
	atomic_uint_least64_t n, errors, bytes, ns, most;
	atomic_uint_least64_t bucket[HISTOGRAM_BUCKETS];
};

static inline void timing_more(atomic_uint_least64_t *n, uint64_t more)
{
	atomic_fetch_add_explicit(n, more, memory_order_relaxed);
}

static inline void timing_add(struct timing *t, uint64_t ns, uint64_t bytes,
			      bool failed)
{
	uint64_t most = atomic_load_explicit(&t->most, memory_order_relaxed);

	timing_more(&t->n, 1);
	timing_more(&t->errors, failed);
	timing_more(&t->bytes, bytes);
	timing_more(&t->ns, ns);
	timing_more(&t->bucket[histogram_bucket(ns)], 1);
	while (ns > most &&
	       !atomic_compare_exchange_weak_explicit(&t->most, &most, ns,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
}

#endif

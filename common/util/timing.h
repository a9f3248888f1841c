/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timing.h - counts how often something was done and how long it took. Any thread may count, and
 * any thread may read. For events that are much rarer than requests.
 */
#ifndef TIMING_H
#define TIMING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/util/histogram.h"

/* Set it to zero. */
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

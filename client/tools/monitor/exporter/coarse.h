/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coarse.h - a histogram of the times of an operation with few buckets, for Prometheus.
 * Each bucket is the sum of whole buckets of the server, so its count is exact.
 *
 *	less than   4.1 us  16.4 us  65.5 us ... 1.07 s  4.29 s  any
 *	ns          2^12    2^14     2^16    ... 2^30    2^32
 */
#ifndef EXPORTER_COARSE_H
#define EXPORTER_COARSE_H

#include <stdint.h>

#include <pvfs.h>

#define COARSE 12u
#define COARSE_FIRST 12u /* log2 of the first border, ns */
#define COARSE_STEP 2u

/*
 * Returns the upper bound of bucket i < COARSE - 1, ns.  The last bucket has none.
 */
static inline uint64_t coarse_ns(unsigned int i)
{
	return UINT64_C(1) << (COARSE_FIRST + COARSE_STEP * i);
}

/* Sets n to the number of times in each bucket (not cumulative). */
static inline void coarse_of(const struct pvfs_metric *m, uint64_t n[COARSE])
{
	unsigned int c = 0;

	for (unsigned int i = 0; i < COARSE; i++)
		n[i] = 0;
	for (unsigned int i = 0; m->latency && i < PVFS_LATENCIES; i++) {
		while (c < COARSE - 1 && pvfs_latency_ns(i) >= coarse_ns(c))
			c++;
		n[c] += m->latency[i];
	}
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* tool_latency.c - see tool.h. */
#include <pvfs.h>
#include "client/tools/common/tool.h"

/* What has a time: not so what clients of an earlier release did by themselves. */
static uint64_t timed(const struct pvfs_op_stats *s)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		n += s->latency[i];
	return n;
}

/* In the middle of the bucket where share of the requests have been counted. */
uint64_t tool_percentile(const struct pvfs_op_stats *s, double share)
{
	uint64_t want = (uint64_t)(share * (double)timed(s)), sum = 0, low,
		 high;
	unsigned int i;

	for (i = 0; i < PVFS_LATENCIES - 1; i++) {
		sum += s->latency[i];
		if (sum > want)
			break;
	}
	low = pvfs_latency_ns(i);
	high = pvfs_latency_ns(i + 1);
	if (high > s->most_ns)
		high = s->most_ns;
	return high > low ? low + (high - low) / 2 : high;
}

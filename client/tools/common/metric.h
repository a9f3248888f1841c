/* SPDX-License-Identifier: BSD-2-Clause */
/* metric.h - rows of what servers have counted: what came since, sums, and times. */
#ifndef METRIC_H
#define METRIC_H

#include <stdbool.h>

#include <pvfs.h>

bool metric_is(const struct pvfs_metric *m, const char *name);
/* By name and labels; 0: it is the same row. */
int metric_compare(const struct pvfs_metric *a, const struct pvfs_metric *b);
/*
 * What came since before, a list, where m was counted; a row that was not there, or counted more there,
 * as of a server that was started anew, begins at 0.  latency is the memory of its own.
 */
struct pvfs_metric metric_since(const struct pvfs_metric *m,
				const struct pvfs_metric *before,
				uint64_t latency[PVFS_LATENCIES]);
/* to->latency NULL: times are not added. */
void metric_add(struct pvfs_metric *to, const struct pvfs_metric *m);
/* ns; 0: of nothing. */
uint64_t metric_mean(const struct pvfs_metric *m);
/* ns that share (0 to 1) of what was timed took at most. */
uint64_t metric_percentile(const struct pvfs_metric *m, double share);

#endif

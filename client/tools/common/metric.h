/* SPDX-License-Identifier: BSD-2-Clause */
/* metric.h - rows of a server's counters: increases, sums and times. */
#ifndef METRIC_H
#define METRIC_H

#include <stdbool.h>

#include <pvfs.h>

bool metric_is(const struct pvfs_metric *m, const char *name);
/*
 * Returns what the row counts: its label op; without one, its label of, unless this is
 * "object"; otherwise the name of the metric.
 */
const char *metric_what(const struct pvfs_metric *m);
/* Orders by name and labels; 0: the same row. */
int metric_compare(const struct pvfs_metric *a, const struct pvfs_metric *b);
/*
 * Returns the increase of the row m since the earlier list before.  If before does not have the
 * row, or has higher counts because the server restarted, returns the counts of m.  A row of kind
 * PVFS_NOW is returned unchanged.  latency: memory for the latency of the result.
 */
struct pvfs_metric metric_since(const struct pvfs_metric *m,
				const struct pvfs_metric *before,
				uint64_t latency[PVFS_LATENCIES]);
/* Adds the numbers of m to those of `to`. If to->latency is NULL, the histogram is not added. */
void metric_add(struct pvfs_metric *to, const struct pvfs_metric *m);
/* Returns the mean time in ns; 0: there were no requests. */
uint64_t metric_mean(const struct pvfs_metric *m);
/* Returns a time in ns: the part `share` (0 to 1) of the timed requests took at most this long. */
uint64_t metric_percentile(const struct pvfs_metric *m, double share);

#endif

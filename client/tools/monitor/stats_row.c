/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_row.c - common parts of all rows: see stats_show.h. */
#include <stdio.h>

#include "client/tools/common/metric.h"
#include "client/tools/monitor/stats_show.h"

struct json_object *stats_json(struct stats_show *show)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", show->who);
	json_str(o, "uri", show->uri);
	json_object_array_add(show->list, o);
	return o;
}

void stats_json_times(struct json_object *o, const struct pvfs_metric *m)
{
	json_u64(o, "mean_ns", metric_mean(m));
	json_u64(o, "p50_ns", metric_percentile(m, 0.5));
	json_u64(o, "p90_ns", metric_percentile(m, 0.9));
	json_u64(o, "p99_ns", metric_percentile(m, 0.99));
	json_u64(o, "max_ns", m->most_ns);
}

void stats_text_times(const struct pvfs_metric *m)
{
	printf(" %9.1f %9.1f %9.1f %9.1f\n", (double)metric_mean(m) / 1e3,
	       (double)metric_percentile(m, 0.5) / 1e3,
	       (double)metric_percentile(m, 0.99) / 1e3,
	       (double)m->most_ns / 1e3);
}

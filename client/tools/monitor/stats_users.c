/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_users.c - see stats_show.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/common/metric.h"
#include "client/tools/common/owner_names.h"
#include "client/tools/monitor/stats_show.h"
#include "client/tools/common/tool.h"

static int by_labels(const void *a, const void *b)
{
	return metric_compare(a, b);
}

static int by_requests(const void *a, const void *b)
{
	const struct pvfs_metric *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return by_labels(a, b);
}

/*
 * Gets the increase of each row that has one.  Without show->jobs, rows of one user are
 * added up.  Returns how many rows there are.
 */
static int take_rows(const struct stats_show *show, struct pvfs_metric *row)
{
	uint64_t none[PVFS_LATENCIES];
	int n = 0, kept = 0;

	for (const struct pvfs_metric *m = show->now; m; m = m->next) {
		row[n] = metric_since(m, show->before, none);
		row[n].latency = NULL;
		for (unsigned int i = 0; !show->jobs && i < m->labels; i++)
			if (!strcmp(m->label[i].key, "job"))
				row[n].label[i].value = "";
		n += row[n].n > 0;
	}
	qsort(row, (size_t)n, sizeof(*row), by_labels);
	for (int i = 0; i < n; i++)
		if (kept && !by_labels(&row[kept - 1], &row[i]))
			metric_add(&row[kept - 1], &row[i]);
		else
			row[kept++] = row[i];
	qsort(row, (size_t)kept, sizeof(*row), by_requests);
	return kept;
}

struct stats_user {
	const char *uid, *job, *name;
	bool others, direct;
};

static struct stats_user user_of(struct stats_show *show,
				 const struct pvfs_metric *m)
{
	struct stats_user u = { .uid = pvfs_metric_label(m, "uid"),
				.job = pvfs_metric_label(m, "job"),
				.direct = pvfs_metric_label(m, "way")[0] };

	u.others = !strcmp(u.uid, "others");
	u.name = u.others ? "others"
			  : owner_names_user(show->owners,
					     (unsigned int)strtoul(u.uid, NULL,
								   10));
	return u;
}

static void json_row(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = stats_json(show);
	const struct stats_user u = user_of(show, m);

	json_str(o, "user", u.name);
	json_yes(o, "direct", u.direct);
	if (!u.others)
		json_u64(o, "uid", strtoul(u.uid, NULL, 10));
	if (show->jobs)
		json_str(o, "job", u.job);
	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "bytes_in", m->bytes_in);
	json_u64(o, "bytes_out", m->bytes_out);
	json_u64(o, "mean_ns", metric_mean(m));
}

static void text_row(struct stats_show *show, const struct pvfs_metric *m)
{
	const struct stats_user u = user_of(show, m);
	char in[32], out[32], user[64];

	if (show->header)
		printf("%-8s %-12s %10s %8s %10s %10s %9s%s\n", "server",
		       "user", "requests", "errors", "in", "out", "mean us",
		       show->jobs ? " job" : "");
	show->header = false;
	snprintf(user, sizeof(user), "%s%s", u.others ? "(others)" : u.name,
		 u.direct ? "*" : "");
	tool_human(m->bytes_in, in);
	tool_human(m->bytes_out, out);
	tool_line(stdout,
		  "%-8s %-12s %10" PRIu64 " %8" PRIu64 " %10s %10s %9.1f%s%s\n",
		  show->who, user, m->n, m->errors, in, out,
		  (double)m->ns / (double)m->n / 1e3, show->jobs ? " " : "",
		  u.job[0] || !show->jobs ? u.job : "-");
}

void stats_users(struct stats_show *show)
{
	struct pvfs_metric *row;
	size_t all = 0;
	int n;

	for (const struct pvfs_metric *m = show->now; m; m = m->next)
		all++;
	row = calloc(all + 1, sizeof(*row));
	n = row ? take_rows(show, row) : 0;
	for (int i = 0; i < n; i++)
		if (show->list)
			json_row(show, &row[i]);
		else
			text_row(show, &row[i]);
	free(row);
}

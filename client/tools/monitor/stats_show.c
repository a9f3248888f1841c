/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_show.c - see stats_show.h.  A row of a later release gets a line, too. */
#include "client/tools/monitor/stats_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/common/metric.h"
#include "client/tools/common/owner_names.h"
#include "client/tools/common/tool.h"
#include "common/util/number.h"

/* ---- common parts of all rows ---- */

static struct json_object *add_row(struct stats_show *show)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", show->who);
	json_str(o, "uri", show->uri);
	json_object_array_add(show->list, o);
	return o;
}

static void add_times(struct json_object *o, const struct pvfs_metric *m)
{
	json_u64(o, "mean_ns", metric_mean(m));
	json_u64(o, "p50_ns", metric_percentile(m, 0.5));
	json_u64(o, "p90_ns", metric_percentile(m, 0.9));
	json_u64(o, "p99_ns", metric_percentile(m, 0.99));
	json_u64(o, "max_ns", m->most_ns);
}

static void print_times(const struct pvfs_metric *m)
{
	printf(" %9.1f %9.1f %9.1f %9.1f\n", (double)metric_mean(m) / 1e3,
	       (double)metric_percentile(m, 0.5) / 1e3,
	       (double)metric_percentile(m, 0.99) / 1e3,
	       (double)m->most_ns / 1e3);
}

/* ---- by operation ---- */

static void json_op(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = add_row(show);

	json_str(o, "op", pvfs_metric_label(m, "op"));
	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "bytes_in", m->bytes_in);
	json_u64(o, "bytes_out", m->bytes_out);
	add_times(o, m);
}

static void text_op(struct stats_show *show, const struct pvfs_metric *m)
{
	char in[32], out[32];

	if (show->header)
		printf("%-8s %-12s %10s %8s %10s %10s %9s %9s %9s %9s\n",
		       "server", "operation", "requests", "errors", "in", "out",
		       "mean us", "p50", "p99", "max");
	show->header = false;
	tool_human(m->bytes_in, in);
	tool_human(m->bytes_out, out);
	tool_line(stdout, "%-8s %-12s %10" PRIu64 " %8" PRIu64 " %10s %10s",
		  show->who, pvfs_metric_label(m, "op"), m->n, m->errors, in,
		  out);
	print_times(m);
}

void stats_ops(struct stats_show *show)
{
	uint64_t latency[PVFS_LATENCIES];

	for (const struct pvfs_metric *m = show->now; m; m = m->next) {
		const struct pvfs_metric s = metric_since(m, show->before,
							  latency);

		if (!s.n)
			continue;
		if (show->list)
			json_op(show, &s);
		else
			text_op(show, &s);
	}
}

/* ---- by user, or by user and job ---- */

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
	u.name = owner_names_uid(show->owners, u.uid);
	return u;
}

static void json_user(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = add_row(show);
	const struct stats_user u = user_of(show, m);
	uint64_t uid;

	json_str(o, "user", u.name);
	json_yes(o, "direct", u.direct);
	if (!number_parse(u.uid, UINT32_MAX, &uid)) /* else the others */
		json_u64(o, "uid", uid);
	if (show->jobs)
		json_str(o, "job", u.job);
	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "bytes_in", m->bytes_in);
	json_u64(o, "bytes_out", m->bytes_out);
	json_u64(o, "mean_ns", metric_mean(m));
}

static void text_user(struct stats_show *show, const struct pvfs_metric *m)
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
			json_user(show, &row[i]);
		else
			text_user(show, &row[i]);
	free(row);
}

#define LINE 512

/* ---- inside: times ---- */

/* Returns "" for requests without data, which have no way. */
static const char *way_of(const struct pvfs_metric *m)
{
	const char *way = pvfs_metric_label(m, "way");

	return strcmp(way, "none") ? way : "";
}

static void json_time(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = add_row(show);

	json_str(o, "what", metric_what(m));
	json_str(o, "transport", pvfs_metric_label(m, "transport"));
	json_str(o, "way", way_of(m));
	json_str(o, "queue", pvfs_metric_label(m, "queue"));
	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "bytes", m->bytes_in + m->bytes_out);
	add_times(o, m);
}

static void text_time(const struct stats_show *show,
		      const struct pvfs_metric *m)
{
	const char *queue = pvfs_metric_label(m, "queue");
	char bytes[32];

	tool_human(m->bytes_in + m->bytes_out, bytes);
	tool_line(stdout, "%-8s %-10s %-9s %-7s %10" PRIu64 " %8" PRIu64 " %8s",
		  show->who, metric_what(m),
		  *queue ? queue : pvfs_metric_label(m, "transport"), way_of(m),
		  m->n, m->errors, bytes);
	print_times(m);
}

static void show_times(struct stats_show *show)
{
	uint64_t latency[PVFS_LATENCIES];

	if (!show->list)
		printf("%-8s %-10s %-9s %-7s %10s %8s %8s %9s %9s %9s %9s\n",
		       "server", "what", "over", "way", "times", "errors",
		       "bytes", "mean us", "p50", "p99", "max");
	for (const struct pvfs_metric *m = show->now; m; m = m->next) {
		const struct pvfs_metric s = metric_since(m, show->before,
							  latency);

		if (s.kind != PVFS_TIMES || !s.n)
			continue;
		if (show->list)
			json_time(show, &s);
		else
			text_time(show, &s);
	}
}

/* ---- inside: numbers ---- */

static void json_number(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = add_row(show);

	json_str(o, "gauge", m->name);
	for (unsigned int i = 0; i < m->labels; i++)
		json_str(o, m->label[i].key, m->label[i].value);
	json_yes(o, "total", m->kind == PVFS_TOTAL);
	json_u64(o, "value", m->n);
}

/* "zone" of "zone_used": rows of one kind share a line. */
static size_t kind_len(const struct pvfs_metric *m)
{
	return strcspn(m->name, "_");
}

static const char *label_of(const struct pvfs_metric *m)
{
	return m->labels ? m->label[0].value : "";
}

static bool one_line(const struct pvfs_metric *a, const struct pvfs_metric *b)
{
	size_t len = kind_len(a);

	return b->kind != PVFS_TIMES && len == kind_len(b) &&
	       !memcmp(a->name, b->name, len) &&
	       !strcmp(label_of(a), label_of(b));
}

static void add_value(char *line, const struct pvfs_metric *m)
{
	const char *name = m->name + kind_len(m), *unit = strrchr(name, '_');
	size_t len = strlen(line);
	char buf[32];

	if (unit && !strcmp(unit, "_bytes"))
		tool_human(m->n, buf);
	else
		snprintf(buf, sizeof(buf), "%" PRIu64, m->n);
	if (*name)
		name++;
	snprintf(line + len, LINE - len, "%s%s%s%s", len ? ", " : "", name,
		 *name ? " " : "", buf);
}

/* Prints the line that begins with row m; returns the first row of the next line. */
static const struct pvfs_metric *text_numbers(const struct stats_show *show,
					      const struct pvfs_metric *m)
{
	const struct pvfs_metric *first = m;
	char line[LINE] = "", kind[64];
	uint64_t any = 0;

	for (; m && one_line(first, m); m = m->next) {
		const struct pvfs_metric s = metric_since(m, show->before,
							  NULL);

		any |= s.n;
		add_value(line, &s);
	}
	snprintf(kind, sizeof(kind), "%.*s%s%s", (int)kind_len(first),
		 first->name, first->labels ? " " : "", label_of(first));
	if (any)
		tool_line(stdout, "%-8s %-20s %s\n", show->who, kind, line);
	return m;
}

static void show_numbers(struct stats_show *show)
{
	const struct pvfs_metric *m = show->now;

	while (m) {
		if (m->kind == PVFS_TIMES) {
			m = m->next;
		} else if (show->list) {
			const struct pvfs_metric s =
				metric_since(m, show->before, NULL);

			json_number(show, &s);
			m = m->next;
		} else {
			m = text_numbers(show, m);
		}
	}
}

void stats_inside(struct stats_show *show)
{
	show_times(show);
	show_numbers(show);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_inside.c - see stats_show.h.  A row of a later release gets a line, too. */
#include <inttypes.h>
#include <string.h>

#include "client/tools/common/metric.h"
#include "client/tools/monitor/stats_show.h"
#include "client/tools/common/tool.h"

#define LINE 512

/* ---- times ---- */

/* Returns "read" for a way, "log" for a flush, else the name. */
static const char *what_of(const struct pvfs_metric *m)
{
	const char *op = pvfs_metric_label(m, "op"),
		   *of = pvfs_metric_label(m, "of");

	if (*op)
		return op;
	return *of && strcmp(of, "object") ? of : m->name;
}

/* Returns "" for requests without data, which have no way. */
static const char *way_of(const struct pvfs_metric *m)
{
	const char *way = pvfs_metric_label(m, "way");

	return strcmp(way, "none") ? way : "";
}

static void json_time(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = stats_json(show);

	json_str(o, "what", what_of(m));
	json_str(o, "transport", pvfs_metric_label(m, "transport"));
	json_str(o, "way", way_of(m));
	json_str(o, "queue", pvfs_metric_label(m, "queue"));
	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "bytes", m->bytes_in + m->bytes_out);
	stats_json_times(o, m);
}

static void text_time(const struct stats_show *show,
		      const struct pvfs_metric *m)
{
	const char *queue = pvfs_metric_label(m, "queue");
	char bytes[32];

	tool_human(m->bytes_in + m->bytes_out, bytes);
	tool_line(stdout, "%-8s %-10s %-9s %-7s %10" PRIu64 " %8" PRIu64 " %8s",
		  show->who, what_of(m),
		  *queue ? queue : pvfs_metric_label(m, "transport"), way_of(m),
		  m->n, m->errors, bytes);
	stats_text_times(m);
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

/* ---- numbers ---- */

static void json_number(struct stats_show *show, const struct pvfs_metric *m)
{
	struct json_object *o = stats_json(show);

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

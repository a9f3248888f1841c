/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.c - the internal metrics of servers in the text format of Prometheus: latencies of each
 * data path, of flushes and of queues, and all other counts and totals.  Metrics that a newer
 * server has are exported, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/tools/monitor/exporter/coarse.h"
#include "client/tools/common/metric.h"
#include "client/tools/monitor/exporter/view.h"

static void write_head(struct text_buffer *out, const char *name,
		       const char *type, const char *help)
{
	text_add(out, "# HELP %s ", name);
	text_help(out, help);
	text_add(out, "\n# TYPE %s %s\n", name, type);
}

/* False for a way without times: direct, of clients that measure none. */
static bool is_timed(const struct pvfs_metric *m)
{
	return metric_is(m, "way") && m->latency;
}

static bool has_bytes(const struct pvfs_metric *m)
{
	return metric_is(m, "way") &&
	       strcmp(pvfs_metric_label(m, "way"), "none");
}

static bool is_flush(const struct pvfs_metric *m)
{
	return metric_is(m, "flush");
}

static bool is_queue(const struct pvfs_metric *m)
{
	return metric_is(m, "queue");
}

/* Prometheus would reject all metrics if a label came twice; we add server and le. */
static bool is_free_key(const struct pvfs_metric *m, unsigned int i)
{
	const char *key = m->label[i].key;

	if (!strcmp(key, "server") || !strcmp(key, "le"))
		return false;
	while (i--)
		if (!strcmp(key, m->label[i].key))
			return false;
	return true;
}

/* All labels are words of the server. */
static void add_labels(struct text_buffer *out, const char *server,
		       const struct pvfs_metric *m)
{
	text_add(out, "{server=\"%s\"", server);
	for (unsigned int i = 0; i < m->labels; i++) {
		if (!is_free_key(m, i))
			continue;
		text_add(out, ",%s=\"", m->label[i].key);
		text_label(out, m->label[i].value);
		text_add(out, "\"");
	}
}

/* ---- times ---- */

typedef void time_fn(struct text_buffer *out, const char *metric,
		     const char *server, const struct pvfs_metric *m);

static void write_histogram(struct text_buffer *out, const char *metric,
			    const char *server, const struct pvfs_metric *m)
{
	uint64_t n[COARSE], sum = 0;

	coarse_of(m, n);
	for (unsigned int i = 0; i < COARSE; i++) {
		sum += n[i];
		text_add(out, "%s_bucket", metric);
		add_labels(out, server, m);
		if (i < COARSE - 1)
			text_add(out, ",le=\"%.10g\"} %" PRIu64 "\n",
				 (double)coarse_ns(i) / 1e9, sum);
		else
			text_add(out, ",le=\"+Inf\"} %" PRIu64 "\n", sum);
	}
	text_add(out, "%s_sum", metric);
	add_labels(out, server, m);
	text_add(out, "} %.9f\n%s_count", (double)m->ns / 1e9, metric);
	add_labels(out, server, m);
	text_add(out, "} %" PRIu64 "\n", sum);
}

static void write_number(struct text_buffer *out, const char *metric,
			 const char *server, const struct pvfs_metric *m,
			 uint64_t n)
{
	text_add(out, "%s", metric);
	add_labels(out, server, m);
	text_add(out, "} %" PRIu64 "\n", n);
}

static void write_bytes(struct text_buffer *out, const char *metric,
			const char *server, const struct pvfs_metric *m)
{
	write_number(out, metric, server, m, m->bytes_in + m->bytes_out);
}

static void write_errors(struct text_buffer *out, const char *metric,
			 const char *server, const struct pvfs_metric *m)
{
	write_number(out, metric, server, m, m->errors);
}

static const struct {
	const char *metric, *type, *help;
	bool (*wanted)(const struct pvfs_metric *m);
	time_fn *write;
} kinds[] = {
	{ "pvfs_way_duration_seconds", "histogram",
	  "Requests by transport and the way of their data.", is_timed,
	  write_histogram },
	{ "pvfs_way_bytes_total", "counter",
	  "Data by transport and way, with what clients moved directly.",
	  has_bytes, write_bytes },
	{ "pvfs_flush_duration_seconds", "histogram",
	  "Flushes to stable storage, of objects and of the database.",
	  is_flush, write_histogram },
	{ "pvfs_flush_errors_total", "counter", "Flushes that failed.",
	  is_flush, write_errors },
	{ "pvfs_queue_wait_seconds", "histogram",
	  "Requests that waited for a thread that works with the disk.",
	  is_queue, write_histogram },
};

static void write_kind(const struct view *v, struct text_buffer *out,
		       size_t kind)
{
	const char *metric = kinds[kind].metric;

	write_head(out, metric, kinds[kind].type, kinds[kind].help);
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct pvfs_metric *m = v->server[i].report.rows;

		for (; m; m = m->next)
			if (kinds[kind].wanted(m))
				kinds[kind].write(out, metric,
						  v->server[i].name, m);
	}
}

/* ---- numbers ---- */

/*
 * Writes the metric for all servers from this one on: Prometheus wants it in one block.
 */
static void write_metric(const struct view *v, struct text_buffer *out,
			 unsigned int server, const struct pvfs_metric *first)
{
	bool total = first->kind == PVFS_TOTAL;
	char name[64];

	snprintf(name, sizeof(name), "pvfs_%s%s", first->name,
		 total ? "_total" : "");
	write_head(out, name, total ? "counter" : "gauge", first->help);
	for (unsigned int i = server; i < v->servers; i++) {
		const struct pvfs_metric *m = v->server[i].report.rows;

		for (; m; m = m->next)
			if (m->kind == first->kind && metric_is(m, first->name))
				write_number(out, name, v->server[i].name, m,
					     m->n);
	}
}

/*
 * Whether an earlier row with this name, of this server or of one before, has written the metric.
 */
static bool is_written(const struct view *v, unsigned int server,
		       const struct pvfs_metric *m)
{
	for (unsigned int i = 0; i <= server; i++) {
		const struct pvfs_metric *k = v->server[i].report.rows;

		for (; k && k != m; k = k->next)
			if (k->kind != PVFS_TIMES && metric_is(k, m->name))
				return true;
	}
	return false;
}

static void write_numbers(const struct view *v, struct text_buffer *out)
{
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct pvfs_metric *m = v->server[i].report.rows;

		for (; m; m = m->next)
			if (m->kind != PVFS_TIMES && !is_written(v, i, m))
				write_metric(v, out, i, m);
	}
}

void view_inside(const struct view *v, struct text_buffer *out)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		write_kind(v, out, i);
	write_numbers(v, out);
}

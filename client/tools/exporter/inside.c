/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.c - what servers have inside, in the text format of Prometheus: times by way, of flushes
 * and of queues, and gauges.  All labels are words of the library.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/tools/exporter/coarse.h"
#include "client/tools/exporter/view.h"

#define LABELS 128

static void head(struct text *out, const char *name, const char *type,
		 const char *help)
{
	text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static bool is_request(const struct pvfs_times *t)
{
	return t->transport[0];
}

static bool is_queue(const struct pvfs_times *t)
{
	return t->queue[0];
}

static bool is_flush(const struct pvfs_times *t)
{
	return !is_request(t) && !is_queue(t);
}

/* Servers and clients of an earlier release timed none that was direct by itself. */
static bool is_timed(const struct pvfs_times *t)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		any |= t->stats.latency[i];
	return is_request(t) && any;
}

static bool has_bytes(const struct pvfs_times *t)
{
	return is_request(t) && t->way[0];
}

static void say_labels(const struct pvfs_times *t, const char *server,
		       char *buf)
{
	if (is_request(t))
		snprintf(buf, LABELS,
			 "server=\"%s\",op=\"%s\",transport=\"%s\",way=\"%s\"",
			 server, t->stats.name, t->transport,
			 t->way[0] ? t->way : "none");
	else if (is_queue(t))
		snprintf(buf, LABELS, "server=\"%s\",queue=\"%s\"", server,
			 t->queue);
	else
		snprintf(buf, LABELS, "server=\"%s\",of=\"%s\"", server,
			 strcmp(t->stats.name, "flush") ? t->stats.name
							: "object");
}

/* ---- times ---- */

typedef void time_fn(struct text *out, const char *metric, const char *labels,
		     const struct pvfs_op_stats *s);

static void write_histogram(struct text *out, const char *metric,
			    const char *labels, const struct pvfs_op_stats *s)
{
	uint64_t n[COARSE], sum = 0;

	coarse_of(s, n);
	for (unsigned int i = 0; i < COARSE; i++) {
		sum += n[i];
		text_add(out, "%s_bucket{%s,le=\"", metric, labels);
		if (i < COARSE - 1)
			text_add(out, "%.10g", (double)coarse_ns(i) / 1e9);
		else
			text_add(out, "+Inf");
		text_add(out, "\"} %" PRIu64 "\n", sum);
	}
	text_add(out, "%s_sum{%s} %.9f\n", metric, labels, (double)s->ns / 1e9);
	text_add(out, "%s_count{%s} %" PRIu64 "\n", metric, labels, sum);
}

static void write_bytes(struct text *out, const char *metric,
			const char *labels, const struct pvfs_op_stats *s)
{
	text_add(out, "%s{%s} %" PRIu64 "\n", metric, labels,
		 s->bytes_in + s->bytes_out);
}

static void write_errors(struct text *out, const char *metric,
			 const char *labels, const struct pvfs_op_stats *s)
{
	text_add(out, "%s{%s} %" PRIu64 "\n", metric, labels, s->errors);
}

static const struct {
	const char *metric, *type, *help;
	bool (*wanted)(const struct pvfs_times *t);
	time_fn *write;
} kinds[] = {
	{ "pvfs_way_duration_seconds", "histogram",
	  "Requests by transport and the way of their data.", is_timed,
	  write_histogram },
	{ "pvfs_way_bytes_total", "counter",
	  "Data by transport and way, with what clients moved directly.",
	  has_bytes, write_bytes },
	{ "pvfs_flush_duration_seconds", "histogram",
	  "Flushes to stable storage, of objects and of the data base.",
	  is_flush, write_histogram },
	{ "pvfs_flush_errors_total", "counter", "Flushes that failed.",
	  is_flush, write_errors },
	{ "pvfs_queue_wait_seconds", "histogram",
	  "What works waited for a thread that works with the disk.", is_queue,
	  write_histogram },
};

static void write_kind(const struct view *v, struct text *out, size_t kind)
{
	char labels[LABELS];

	head(out, kinds[kind].metric, kinds[kind].type, kinds[kind].help);
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct report *r = v->server[i].report;

		for (int k = 0; r && k < r->times; k++) {
			if (!kinds[kind].wanted(&r->time[k]))
				continue;
			say_labels(&r->time[k], v->server[i].name, labels);
			kinds[kind].write(out, kinds[kind].metric, labels,
					  &r->time[k].stats);
		}
	}
}

/* ---- gauges ---- */

static void write_value(struct text *out, const char *server,
			const struct pvfs_gauge *g)
{
	text_add(out, "pvfs_%s%s{server=\"%s\"", g->name,
		 g->flags & PVFS_GAUGE_TOTAL ? "_total" : "", server);
	if (g->by[0])
		text_add(out, ",%s=\"%s\"", g->by, g->of);
	text_add(out, "} %" PRIu64 "\n", g->value);
}

/* Of all servers: a metric stands together. */
static void write_gauge(const struct view *v, struct text *out,
			const struct pvfs_gauge *g)
{
	bool total = g->flags & PVFS_GAUGE_TOTAL;
	char name[64];

	snprintf(name, sizeof(name), "pvfs_%s%s", g->name,
		 total ? "_total" : "");
	head(out, name, total ? "counter" : "gauge", g->help);
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct report *r = v->server[i].report;

		for (int k = 0; r && k < r->gauges; k++)
			if (!strcmp(r->gauge[k].name, g->name))
				write_value(out, v->server[i].name,
					    &r->gauge[k]);
	}
}

struct names {
	unsigned int n;
	const char *name[PVFS_GAUGES];
};

/* False: it was there, or there are too many. */
static bool add_name(struct names *names, const char *name)
{
	for (unsigned int i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return false;
	if (names->n == PVFS_GAUGES)
		return false;
	names->name[names->n++] = name;
	return true;
}

static void write_gauges(const struct view *v, struct text *out)
{
	struct names names = { 0 };

	for (unsigned int i = 0; i < v->servers; i++) {
		const struct report *r = v->server[i].report;

		for (int k = 0; r && k < r->gauges; k++)
			if (add_name(&names, r->gauge[k].name))
				write_gauge(v, out, &r->gauge[k]);
	}
}

void view_inside(const struct view *v, struct text *out)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		write_kind(v, out, i);
	write_gauges(v, out);
}

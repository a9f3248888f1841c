/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.c - a view in the text format of Prometheus. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/tools/monitor/exporter/coarse.h"
#include "client/tools/common/metric.h"
#include "client/tools/monitor/exporter/view.h"

static void write_head(struct text_buffer *out, const char *name,
		       const char *type, const char *help)
{
	text_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- one value per server ---- */

static double value_uptime(const struct report *r)
{
	return (double)r->ping->uptime_ns / 1e9;
}

static double value_rtt(const struct report *r)
{
	return (double)r->ping->rtt_ns / 1e9;
}

/* A tmpfs without a limit reports only zeros. */
static double value_limit(uint64_t all, uint64_t n)
{
	return all ? (double)n : (double)INFINITY;
}

static double value_bytes(const struct statfs *st, uint64_t blocks)
{
	return value_limit(st->f_blocks, view_bytes(st, blocks));
}

static double value_size(const struct report *r)
{
	return value_bytes(r->space, r->space->f_blocks);
}

static double value_free(const struct report *r)
{
	return value_bytes(r->space, r->space->f_bfree);
}

static double value_available(const struct report *r)
{
	return value_bytes(r->space, r->space->f_bavail);
}

static double value_files(const struct report *r)
{
	return value_limit(r->space->f_files, r->space->f_files);
}

static double value_files_free(const struct report *r)
{
	return value_limit(r->space->f_files, r->space->f_ffree);
}

static const struct gauge {
	const char *name, *help;
	double (*value)(const struct report *r);
} gauges[] = {
	{ "pvfs_uptime_seconds", "Since the server started.", value_uptime },
	{ "pvfs_round_trip_seconds", "A request that does nothing, from here.",
	  value_rtt },
	{ "pvfs_space_size_bytes", "Size of the disk of the store.",
	  value_size },
	{ "pvfs_space_free_bytes", "Free on it, for root.", value_free },
	{ "pvfs_space_available_bytes", "Free on it, for everybody.",
	  value_available },
	{ "pvfs_files", "Inodes of the disk of the store.", value_files },
	{ "pvfs_files_free", "Free ones of these.", value_files_free },
};

static void write_number(struct text_buffer *out, const char *metric,
			 const char *server, double n)
{
	text_add(out, "%s{server=\"%s\"} ", metric, server);
	if (isinf(n)) {
		text_add(out, "+Inf\n");
		return;
	}
	text_add(out,
		 n < 1e15 && n != (double)(uint64_t)n ? "%.9f\n" : "%.0f\n", n);
}

static void write_gauge(const struct view *v, const struct gauge *g,
			struct text_buffer *out)
{
	write_head(out, g->name, "gauge", g->help);
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct view_server *s = &v->server[i];

		if (view_is_up(s))
			write_number(out, g->name, s->name,
				     g->value(&s->report));
	}
}

static void write_up(const struct view *v, struct text_buffer *out)
{
	write_head(out, "pvfs_up", "gauge", "Whether the server answers.");
	for (unsigned int i = 0; i < v->servers; i++)
		text_add(out, "pvfs_up{server=\"%s\",role=\"%s\"} %d\n",
			 v->server[i].name, v->server[i].is_mgr ? "mgr" : "iod",
			 view_is_up(&v->server[i]));
}

static void write_label(struct text_buffer *out, const char *name,
			const char *value)
{
	text_add(out, ",%s=\"", name);
	text_label(out, value);
	text_add(out, "\"");
}

static void write_info(const struct view *v, struct text_buffer *out)
{
	write_head(out, "pvfs_server_info", "gauge", "Which server that is.");
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct view_server *s = &v->server[i];

		text_add(out, "pvfs_server_info{server=\"%s\"", s->name);
		write_label(out, "address", s->address);
		write_label(out, "version",
			    view_is_up(s) ? s->report.ping->version : "");
		write_label(out, "transport",
			    view_is_up(s) ? s->report.ping->transport : "");
		text_add(out, "} 1\n");
	}
}

/* ---- by operation ---- */

typedef void op_fn(struct text_buffer *out, const char *server,
		   const struct pvfs_metric *m);

static void each_op(const struct view *v, struct text_buffer *out, op_fn *fn)
{
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct pvfs_metric *m = v->server[i].report.rows;

		for (; m; m = m->next)
			if (view_op(&v->server[i], m))
				fn(out, v->server[i].name, m);
	}
}

static void write_count(struct text_buffer *out, const char *metric,
			const char *server, const struct pvfs_metric *m,
			uint64_t n)
{
	text_add(out, "%s{server=\"%s\",op=\"", metric, server);
	text_label(out, pvfs_metric_label(m, "op"));
	text_add(out, "\"} %" PRIu64 "\n", n);
}

static void write_errors(struct text_buffer *out, const char *server,
			 const struct pvfs_metric *m)
{
	write_count(out, "pvfs_request_errors_total", server, m, m->errors);
}

/* Most operations never carry data. */
static void write_in(struct text_buffer *out, const char *server,
		     const struct pvfs_metric *m)
{
	if (m->bytes_in)
		write_count(out, "pvfs_received_bytes_total", server, m,
			    m->bytes_in);
}

static void write_out(struct text_buffer *out, const char *server,
		      const struct pvfs_metric *m)
{
	if (m->bytes_out)
		write_count(out, "pvfs_sent_bytes_total", server, m,
			    m->bytes_out);
}

#define DURATION "pvfs_request_duration_seconds"

static void write_bucket(struct text_buffer *out, const char *server,
			 const struct pvfs_metric *m, unsigned int i,
			 uint64_t sum)
{
	text_add(out, DURATION "_bucket{server=\"%s\",op=\"", server);
	text_label(out, pvfs_metric_label(m, "op"));
	if (i < COARSE - 1)
		text_add(out, "\",le=\"%.10g\"} %" PRIu64 "\n",
			 (double)coarse_ns(i) / 1e9, sum);
	else
		text_add(out, "\",le=\"+Inf\"} %" PRIu64 "\n", sum);
}

/*
 * Whether the row counts accesses that clients made without requests, and reported. inside.c
 * exports their times, as those of the path "direct".
 */
static bool is_direct(const struct pvfs_metric *m)
{
	return !strncmp(pvfs_metric_label(m, "op"), "DIRECT_", 7);
}

static void write_direct(struct text_buffer *out, const char *server,
			 const struct pvfs_metric *m)
{
	if (is_direct(m))
		write_count(out, "pvfs_direct_accesses_total", server, m, m->n);
}

/* The count is the sum of the buckets: the server's numbers are not of one moment. */
static void write_times(struct text_buffer *out, const char *server,
			const struct pvfs_metric *m)
{
	uint64_t n[COARSE], sum = 0;

	if (is_direct(m))
		return;
	coarse_of(m, n);
	for (unsigned int i = 0; i < COARSE; i++) {
		sum += n[i];
		write_bucket(out, server, m, i, sum);
	}
	text_add(out, DURATION "_sum{server=\"%s\",op=\"", server);
	text_label(out, pvfs_metric_label(m, "op"));
	text_add(out, "\"} %.9f\n", (double)m->ns / 1e9);
	write_count(out, DURATION "_count", server, m, sum);
}

static void write_ops(const struct view *v, struct text_buffer *out)
{
	write_head(out, DURATION, "histogram",
		   "Requests by the time from their arrival to the reply.");
	each_op(v, out, write_times);
	write_head(
		out, "pvfs_direct_accesses_total", "counter",
		"Reads and writes that clients report to have made without a request.");
	each_op(v, out, write_direct);
	write_head(out, "pvfs_request_errors_total", "counter",
		   "Requests that were answered with an error.");
	each_op(v, out, write_errors);
	write_head(out, "pvfs_received_bytes_total", "counter",
		   "Data that came with requests.");
	each_op(v, out, write_in);
	write_head(out, "pvfs_sent_bytes_total", "counter",
		   "Data that went out with replies.");
	each_op(v, out, write_out);
}

/* ---- by user and job ---- */

static void count_user(struct text_buffer *out, const char *metric,
		       const char *server, const struct pvfs_metric *m,
		       uint64_t n)
{
	const char *way = pvfs_metric_label(m, "way");

	text_add(out, "%s{server=\"%s\"", metric, server);
	write_label(out, "uid", pvfs_metric_label(m, "uid"));
	write_label(out, "job_id", pvfs_metric_label(m, "job"));
	if (*way)
		write_label(out, "way", way);
	text_add(out, "} %" PRIu64 "\n", n);
}

static uint64_t user_requests(const struct pvfs_metric *m)
{
	return m->n;
}

static uint64_t user_received(const struct pvfs_metric *m)
{
	return m->bytes_in;
}

static uint64_t user_sent(const struct pvfs_metric *m)
{
	return m->bytes_out;
}

static const struct {
	const char *name, *help;
	uint64_t (*value)(const struct pvfs_metric *m);
} of_users[] = {
	{ "pvfs_user_requests_total", "Requests by user and job.",
	  user_requests },
	{ "pvfs_user_received_bytes_total", "Data that came with them.",
	  user_received },
	{ "pvfs_user_sent_bytes_total", "Data that went out with replies.",
	  user_sent },
};

static bool any_users(const struct view *v)
{
	for (unsigned int i = 0; i < v->servers; i++)
		if (v->server[i].report.users)
			return true;
	return false;
}

static void write_users(const struct view *v, struct text_buffer *out,
			size_t which)
{
	write_head(out, of_users[which].name, "counter", of_users[which].help);
	for (unsigned int i = 0; i < v->servers; i++) {
		const struct report *r = &v->server[i].report;

		for (int k = 0; k < r->users; k++)
			count_user(out, of_users[which].name, v->server[i].name,
				   &r->user[k],
				   of_users[which].value(&r->user[k]));
	}
}

void view_metrics(const struct view *v, struct text_buffer *out)
{
	write_head(out, "pvfs_mount_info", "gauge", "Which mount is watched.");
	text_add(out, "pvfs_mount_info{mount=\"");
	text_label(out, v->mount);
	text_add(out, "\"} 1\n");
	write_up(v, out);
	write_info(v, out);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		write_gauge(v, &gauges[i], out);
	write_ops(v, out);
	view_inside(v, out);
	for (size_t i = 0; any_users(v) && i < 3; i++)
		write_users(v, out, i);
	write_head(out, "pvfs_exporter_rounds_total", "counter",
		   "How often the servers were asked.");
	text_add(out, "pvfs_exporter_rounds_total %" PRIu64 "\n", v->rounds);
	write_head(out, "pvfs_exporter_round_seconds", "gauge",
		   "How long the last time took.");
	text_add(out, "pvfs_exporter_round_seconds %.9f\n",
		 (double)v->took_ns / 1e9);
}

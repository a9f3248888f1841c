/* SPDX-License-Identifier: BSD-2-Clause */
/* status.c - a view as JSON. */
#include <stdlib.h>
#include <string.h>

#include "client/tools/monitor/exporter/coarse.h"
#include "common/json/json_out.h"
#include "client/tools/common/metric.h"
#include "client/tools/monitor/exporter/view.h"
#include "common/util/number.h"

static void add_times(struct json_object *o, const struct pvfs_metric *m)
{
	struct json_object *times = json_object_new_array();
	uint64_t n[COARSE];

	json_u64(o, "requests", m->n);
	json_u64(o, "errors", m->errors);
	json_u64(o, "in", m->bytes_in);
	json_u64(o, "out", m->bytes_out);
	json_num(o, "seconds", (double)m->ns / 1e9);
	coarse_of(m, n);
	for (unsigned int i = 0; i < COARSE; i++)
		json_object_array_add(times, json_object_new_uint64(n[i]));
	json_object_object_add(o, "times", times);
}

static struct json_object *op_json(const struct pvfs_metric *m)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "op", pvfs_metric_label(m, "op"));
	add_times(o, m);
	return o;
}

static struct json_object *time_json(const struct pvfs_metric *m)
{
	struct json_object *o = json_object_new_object();
	const char *queue = pvfs_metric_label(m, "queue"),
		   *way = pvfs_metric_label(m, "way");

	json_str(o, "what", metric_what(m));
	json_str(o, "over", *queue ? queue : pvfs_metric_label(m, "transport"));
	json_str(o, "way", strcmp(way, "none") ? way : "");
	add_times(o, m);
	return o;
}

/* Returns the sum of all rows with that name. */
static uint64_t sum_of(const struct report *r, const char *name)
{
	uint64_t sum = 0;

	for (const struct pvfs_metric *m = r->rows; m; m = m->next)
		if (metric_is(m, name))
			sum += m->n;
	return sum;
}

static bool is_inside(const struct pvfs_metric *m)
{
	return metric_is(m, "way") || metric_is(m, "queue") ||
	       metric_is(m, "flush");
}

static void add_inside(struct json_object *o, const struct report *r)
{
	static const char *const shown[] = {
		"requests_running", "queue_waiting", "queue_stuck",
		"zone_buffers",	    "zone_used",     "zones_waits",
		"db_hits",	    "db_misses"
	};
	struct json_object *list = json_object_new_array(),
			   *gauges = json_object_new_object();

	for (const struct pvfs_metric *m = r->rows; m; m = m->next)
		if (is_inside(m))
			json_object_array_add(list, time_json(m));
	json_object_object_add(o, "ways", list);
	for (size_t i = 0; r->rows && i < sizeof(shown) / sizeof(shown[0]); i++)
		json_u64(gauges, shown[i], sum_of(r, shown[i]));
	json_object_object_add(o, "gauges", gauges);
}

static struct json_object *user_json(const struct pvfs_metric *m)
{
	struct json_object *o = json_object_new_object();
	const char *uid = pvfs_metric_label(m, "uid");
	uint64_t n;

	if (!number_parse(uid, UINT32_MAX, &n)) /* else the others */
		json_u64(o, "uid", n);
	json_str(o, "job", pvfs_metric_label(m, "job"));
	json_u64(o, "requests", m->n);
	json_u64(o, "in", m->bytes_in);
	json_u64(o, "out", m->bytes_out);
	return o;
}

/* Adds the users and jobs, if the exporter runs with --users. */
static void add_users(struct json_object *o, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; i < r->users; i++)
		json_object_array_add(list, user_json(&r->user[i]));
	json_object_object_add(o, "users", list);
}

/* null: there is no limit. */
static void add_bytes(struct json_object *o, const char *key,
		      const struct statfs *st, uint64_t blocks)
{
	if (st->f_blocks)
		json_u64(o, key, view_bytes(st, blocks));
	else
		json_object_object_add(o, key, NULL);
}

static void add_report(struct json_object *o, const struct view_server *s)
{
	const struct report *r = &s->report;
	struct json_object *ops = json_object_new_array();

	json_str(o, "version", r->ping->version);
	json_str(o, "transport", r->ping->transport);
	/* exact as a number of JavaScript */
	json_u64(o, "boot", r->ping->boot >> 12);
	json_num(o, "uptime", (double)r->ping->uptime_ns / 1e9);
	json_u64(o, "sessions", r->ping->sessions);
	json_num(o, "rtt", (double)r->ping->rtt_ns / 1e9);
	add_bytes(o, "size", r->space, r->space->f_blocks);
	add_bytes(o, "free", r->space, r->space->f_bfree);
	add_bytes(o, "available", r->space, r->space->f_bavail);
	for (const struct pvfs_metric *m = r->rows; m; m = m->next)
		if (view_op(s, m))
			json_object_array_add(ops, op_json(m));
	json_object_object_add(o, "ops", ops);
	add_inside(o, r);
	add_users(o, r);
}

static struct json_object *server_json(const struct view_server *s)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", s->name);
	json_str(o, "address", s->address);
	json_yes(o, "up", view_is_up(s));
	if (view_is_up(s))
		add_report(o, s);
	else
		json_str(o, "reason", s->reason);
	return o;
}

/* Releases o. */
static void write_json(struct text_buffer *out, struct json_object *o)
{
	text_add(out, "%s\n",
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static struct json_object *borders_json(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < COARSE - 1; i++)
		json_object_array_add(list,
				      json_object_new_double(
					      (double)coarse_ns(i) / 1e9));
	return list;
}

void view_status(const struct view *v, struct text_buffer *out)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();

	json_str(o, "mount", v->mount);
	json_u64(o, "time_ms", v->wall_ms);
	json_u64(o, "rounds", v->rounds);
	json_num(o, "took", (double)v->took_ns / 1e9);
	if (v->no_iods)
		json_str(o, "no_iods", v->no_iods);
	json_object_object_add(o, "borders", borders_json());
	for (unsigned int i = 0; i < v->servers; i++)
		json_object_array_add(list, server_json(&v->server[i]));
	json_object_object_add(o, "servers", list);
	write_json(out, o);
}

/* ---- health ---- */

static void add_reason(struct json_object *list, const char *server,
		       const char *reason)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", server);
	json_str(o, "reason", reason);
	json_object_array_add(list, o);
}

bool view_health(const struct view *v, struct text_buffer *out)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();
	bool well;

	for (unsigned int i = 0; i < v->servers; i++) {
		const struct view_server *s = &v->server[i];

		if (!view_is_up(s))
			add_reason(list, s->name, s->reason);
		else if (!s->report.space->f_bavail &&
			 s->report.space->f_blocks)
			add_reason(list, s->name, "no space is left");
	}
	if (v->no_iods)
		add_reason(list, "iods", v->no_iods);
	well = !json_object_array_length(list);
	json_str(o, "status", well ? "ok" : "degraded");
	json_object_object_add(o, "reasons", list);
	write_json(out, o);
	return well;
}

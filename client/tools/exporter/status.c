/* SPDX-License-Identifier: BSD-2-Clause */
/* status.c - a view as JSON. */
#include <string.h>

#include "client/tools/exporter/coarse.h"
#include "common/json/json_out.h"
#include "client/tools/exporter/view.h"

/* json-c escapes, but takes any bytes for UTF-8. */
static void add_stats(struct json_object *o, const struct pvfs_op_stats *s)
{
	struct json_object *times = json_object_new_array();
	uint64_t n[COARSE];

	json_u64(o, "requests", s->requests);
	json_u64(o, "errors", s->errors);
	json_u64(o, "in", s->bytes_in);
	json_u64(o, "out", s->bytes_out);
	json_num(o, "seconds", (double)s->ns / 1e9);
	coarse_of(s, n);
	for (unsigned int i = 0; i < COARSE; i++)
		json_object_array_add(times, json_object_new_uint64(n[i]));
	json_object_object_add(o, "times", times);
}

static struct json_object *op_json(const struct pvfs_op_stats *s)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "op", s->name);
	add_stats(o, s);
	return o;
}

static struct json_object *time_json(const struct pvfs_times *t)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "what", t->stats.name);
	json_str(o, "over", t->queue[0] ? t->queue : t->transport);
	json_str(o, "way", t->way);
	add_stats(o, &t->stats);
	return o;
}

/* What the page shows of them. */
static uint64_t gauge_sum(const struct report *r, const char *name)
{
	uint64_t sum = 0;

	for (int i = 0; i < r->gauges; i++)
		if (!strcmp(r->gauge[i].name, name))
			sum += r->gauge[i].value;
	return sum;
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

	for (int i = 0; i < r->times; i++)
		json_object_array_add(list, time_json(&r->time[i]));
	json_object_object_add(o, "ways", list);
	for (size_t i = 0; r->gauges && i < sizeof(shown) / sizeof(shown[0]);
	     i++)
		json_u64(gauges, shown[i], gauge_sum(r, shown[i]));
	json_object_object_add(o, "gauges", gauges);
}

static struct json_object *user_json(const struct pvfs_label *l)
{
	struct json_object *o = json_object_new_object();

	if (!(l->flags & PVFS_LABEL_OTHERS))
		json_u64(o, "uid", l->uid);
	json_str(o, "job", l->job);
	json_u64(o, "requests", l->requests);
	json_u64(o, "in", l->bytes_in);
	json_u64(o, "out", l->bytes_out);
	return o;
}

/* Of the exporter's --users; without, none. */
static void add_users(struct json_object *o, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; i < r->labels; i++)
		json_object_array_add(list, user_json(&r->label[i]));
	json_object_object_add(o, "users", list);
}

static void add_report(struct json_object *o, const struct report *r)
{
	struct json_object *ops = json_object_new_array();

	json_str(o, "version", r->ping.version);
	json_str(o, "transport", r->ping.transport);
	json_u64(o, "boot", r->ping.boot >> 12); /* exact in JavaScript */
	json_num(o, "uptime", (double)r->ping.uptime_ns / 1e9);
	json_u64(o, "sessions", r->ping.sessions);
	json_num(o, "rtt", (double)r->ping.rtt_ns / 1e9);
	json_u64(o, "size", view_bytes(&r->space, r->space.f_blocks));
	json_u64(o, "free", view_bytes(&r->space, r->space.f_bfree));
	json_u64(o, "available", view_bytes(&r->space, r->space.f_bavail));
	for (int i = 0; i < r->ops; i++)
		json_object_array_add(ops, op_json(&r->op[i]));
	json_object_object_add(o, "ops", ops);
	add_inside(o, r);
	add_users(o, r);
}

static struct json_object *server_json(const struct view_server *s)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", s->name);
	json_str(o, "address", s->address);
	json_object_object_add(o, "up",
			       json_object_new_boolean(s->report != NULL));
	if (s->report)
		add_report(o, s->report);
	else
		json_str(o, "reason", s->reason);
	return o;
}

/* Releases o. */
static void write_json(struct text *out, struct json_object *o)
{
	text_add(out, "%s\n",
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static struct json_object *borders(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < COARSE - 1; i++)
		json_object_array_add(list,
				      json_object_new_double(
					      (double)coarse_ns(i) / 1e9));
	return list;
}

void view_status(const struct view *v, struct text *out)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();

	json_str(o, "mount", v->mount);
	json_u64(o, "time_ms", v->wall_ms);
	json_u64(o, "rounds", v->rounds);
	json_num(o, "took", (double)v->took_ns / 1e9);
	if (v->no_iods)
		json_str(o, "no_iods", v->no_iods);
	json_object_object_add(o, "borders", borders());
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

bool view_health(const struct view *v, struct text *out)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();
	bool well;

	for (unsigned int i = 0; i < v->servers; i++) {
		const struct view_server *s = &v->server[i];

		if (!s->report)
			add_reason(list, s->name, s->reason);
		else if (!s->report->space.f_bavail &&
			 s->report->space.f_blocks)
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

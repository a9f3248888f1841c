/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_inside.c - see stats_inside.h. */
#include "client/tools/stats_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"

#define LINE 512

/* What a server said. */
struct inside_seen {
	struct stats_seen is;
	int gauges, times;
	struct pvfs_gauge gauge[PVFS_GAUGES];
	struct pvfs_times time[PVFS_TIMES];
};

/* ---- asking ---- */

static int at_most(int n, int max)
{
	return n < max ? n : max;
}

static int ask(const struct stats_inside *in, const char *path, const char *uri,
	       struct inside_seen *now)
{
	struct pvfs_watch *watch;
	int saved, rc = -1;

	if (pvfs_watch_open(path, uri, in->timeout_ms, &watch))
		return -1;
	now->times = pvfs_watch_times(watch, now->time, PVFS_TIMES);
	if (now->times >= 0)
		now->gauges = pvfs_watch_gauges(watch, now->gauge, PVFS_GAUGES);
	if (now->times >= 0 && now->gauges >= 0)
		rc = 0;
	saved = errno;
	pvfs_watch_close(watch);
	errno = saved;
	now->times = at_most(now->times, PVFS_TIMES);
	now->gauges = at_most(now->gauges, PVFS_GAUGES);
	return rc;
}

/* ---- what came since; a server that was started anew begins at 0 again ---- */

static bool same_time(const struct pvfs_times *a, const struct pvfs_times *b)
{
	return a->stats.op == b->stats.op &&
	       !strcmp(a->transport, b->transport) && !strcmp(a->way, b->way);
}

static struct pvfs_op_stats since(const struct pvfs_times *t,
				  const struct inside_seen *was)
{
	struct pvfs_op_stats s = t->stats;

	for (int i = 0; i < was->times; i++)
		if (same_time(t, &was->time[i]))
			stats_subtract(&s, &was->time[i].stats);
	return s;
}

static uint64_t more(const struct pvfs_gauge *g, const struct inside_seen *was)
{
	for (int i = 0; g->flags & PVFS_GAUGE_TOTAL && i < was->gauges; i++) {
		const struct pvfs_gauge *old = &was->gauge[i];

		if (!strcmp(g->name, old->name) && !strcmp(g->of, old->of) &&
		    old->value <= g->value)
			return g->value - old->value;
	}
	return g->value;
}

/* ---- times ---- */

static void json_time(struct stats_inside *in, const char *who, const char *uri,
		      const struct pvfs_times *t, const struct pvfs_op_stats *s)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_str(o, "what", s->name);
	json_str(o, "transport", t->transport);
	json_str(o, "way", t->way);
	json_str(o, "queue", t->queue);
	json_u64(o, "requests", s->requests);
	json_u64(o, "errors", s->errors);
	json_u64(o, "bytes", s->bytes_in + s->bytes_out);
	json_u64(o, "mean_ns", s->ns / s->requests);
	json_u64(o, "p50_ns", tool_percentile(s, 0.5));
	json_u64(o, "p90_ns", tool_percentile(s, 0.9));
	json_u64(o, "p99_ns", tool_percentile(s, 0.99));
	json_u64(o, "max_ns", s->most_ns);
	json_object_array_add(in->list, o);
}

static void text_time(const char *who, const struct pvfs_times *t,
		      const struct pvfs_op_stats *s)
{
	char bytes[32];

	tool_human(s->bytes_in + s->bytes_out, bytes);
	printf("%-8s %-10s %-9s %-7s %10" PRIu64 " %8" PRIu64
	       " %8s %9.1f %9.1f %9.1f %9.1f\n",
	       who, s->name, t->queue[0] ? t->queue : t->transport, t->way,
	       s->requests, s->errors, bytes,
	       (double)s->ns / (double)s->requests / 1e3,
	       (double)tool_percentile(s, 0.5) / 1e3,
	       (double)tool_percentile(s, 0.99) / 1e3,
	       (double)s->most_ns / 1e3);
}

static void show_times(struct stats_inside *in, const char *who,
		       const struct inside_seen *now,
		       const struct inside_seen *was)
{
	if (!in->list)
		printf("%-8s %-10s %-9s %-7s %10s %8s %8s %9s %9s %9s %9s\n",
		       "server", "what", "over", "way", "times", "errors",
		       "bytes", "mean us", "p50", "p99", "max");
	for (int i = 0; i < now->times; i++) {
		struct pvfs_op_stats s = since(&now->time[i], was);

		if (!s.requests)
			continue;
		if (in->list)
			json_time(in, who, now->is.uri, &now->time[i], &s);
		else
			text_time(who, &now->time[i], &s);
	}
}

/* ---- gauges ---- */

static void json_gauge(struct stats_inside *in, const char *who,
		       const char *uri, const struct pvfs_gauge *g,
		       uint64_t value)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_str(o, "gauge", g->name);
	if (g->by[0])
		json_str(o, g->by, g->of);
	json_yes(o, "total", g->flags & PVFS_GAUGE_TOTAL);
	json_u64(o, "value", value);
	json_object_array_add(in->list, o);
}

/* "zone" of "zone_used": those of one kind share a line. */
static size_t kind_len(const struct pvfs_gauge *g)
{
	return strcspn(g->name, "_");
}

static bool one_line(const struct pvfs_gauge *a, const struct pvfs_gauge *b)
{
	size_t len = kind_len(a);

	return len == kind_len(b) && !memcmp(a->name, b->name, len) &&
	       !strcmp(a->of, b->of);
}

static void add_value(char *line, const struct pvfs_gauge *g, uint64_t value)
{
	const char *name = g->name + kind_len(g), *unit = strrchr(name, '_');
	size_t len = strlen(line);
	char buf[32];

	if (unit && !strcmp(unit, "_bytes"))
		tool_human(value, buf);
	else
		snprintf(buf, sizeof(buf), "%" PRIu64, value);
	if (*name)
		name++;
	snprintf(line + len, LINE - len, "%s%s%s%s", len ? ", " : "", name,
		 *name ? " " : "", buf);
}

/* The line that begins with gauge i; returns where the next one does. */
static int text_gauges(const char *who, const struct inside_seen *now,
		       const struct inside_seen *was, int i)
{
	const struct pvfs_gauge *first = &now->gauge[i];
	char line[LINE] = "", kind[64];
	uint64_t any = 0;

	for (; i < now->gauges && one_line(first, &now->gauge[i]); i++) {
		uint64_t value = more(&now->gauge[i], was);

		any |= value;
		add_value(line, &now->gauge[i], value);
	}
	snprintf(kind, sizeof(kind), "%.*s%s%s", (int)kind_len(first),
		 first->name, first->of[0] ? " " : "", first->of);
	if (any)
		printf("%-8s %-20s %s\n", who, kind, line);
	return i;
}

static void show_gauges(struct stats_inside *in, const char *who,
			const struct inside_seen *now,
			const struct inside_seen *was)
{
	int i = 0;

	while (!in->list && i < now->gauges)
		i = text_gauges(who, now, was, i);
	for (; i < now->gauges; i++)
		json_gauge(in, who, now->is.uri, &now->gauge[i],
			   more(&now->gauge[i], was));
}

int stats_inside(struct stats_inside *in, const char *path, const char *who,
		 const char *uri)
{
	struct inside_seen *seen = stats_seen_of(&in->seen, uri, sizeof(*seen));
	struct inside_seen *now = calloc(1, sizeof(*now));
	int rc = seen && now ? ask(in, path, uri, now) : -1;

	if (!rc) {
		now->is = seen->is;
		if (in->show)
			show_times(in, who, now, seen);
		if (in->show)
			show_gauges(in, who, now, seen);
		*seen = *now;
	} else if (seen) {
		seen->gauges = seen->times = 0;
	}
	free(now);
	return rc;
}

void stats_inside_free(struct stats_inside *in)
{
	stats_seen_free(in->seen);
	in->seen = NULL;
}

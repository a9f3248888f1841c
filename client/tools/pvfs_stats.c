/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-stats - what each server has answered, how much, and how long that took. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json_out.h"
#include "client/tools/owners.h"
#include <pvfs.h>
#include "client/tools/stats_inside.h"
#include "client/tools/stats_labels.h"
#include "client/tools/stats_seen.h"
#include "client/tools/common/tool.h"

#define OPS 96

/* What a server said the last time. */
struct seen {
	struct stats_seen is;
	int n;
	struct pvfs_op_stats op[OPS];
};

struct args {
	bool json;
	bool labels; /* by user or job, not by operation */
	struct stats_labels by;
	bool inside; /* nor that, but what servers have inside */
	struct stats_inside in;
	int timeout_ms;
	unsigned int watch_s, count; /* 0: once; 0: without an end */
	bool header, first;
	struct json_object *list;
	struct stats_seen *seen;
};

static int option(void *arg, int opt, const char *val)
{
	struct args *a = arg;

	switch (opt) {
	case 'j':
		a->json = true;
		break;
	case 'u':
	case 'J':
		a->labels = true;
		a->by.jobs |= opt == 'J';
		break;
	case 'i':
		a->inside = true;
		break;
	case 't':
		a->timeout_ms = (int)tool_number(val);
		break;
	case 'w':
		a->watch_s = (unsigned int)tool_number(val);
		break;
	default:
		a->count = (unsigned int)tool_number(val);
	}
	return 0;
}

static const struct tool_value values[] = { { 't', 1, 3600000, NULL },
					    { 'w', 1, 86400, NULL },
					    { 'c', 1, 1000000000, NULL },
					    { 0 } };

static const struct option longs[] = {
	{ "users", no_argument, NULL, 'u' },
	{ "jobs", no_argument, NULL, 'J' },
	{ "inside", no_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "timeout", required_argument, NULL, 't' },
	{ "watch", required_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'c' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-stats",
	.usage =
		"[-i | -u | -J] [-j] [-t MS] [-w SECONDS [-c COUNT]] [PATH | URI]...",
	.help = "Shows what the servers of the mounts that the PATHs lie on (none: all mounts of\n"
		"pvfstab), or a server by its URI, have answered since they started: requests,\n"
		"errors, bytes and times in microseconds, by operation.\n"
		"  -u, --users            by user instead; who is not root sees himself\n"
		"  -J, --jobs             by user and job\n"
		"  -i, --inside           by transport and way, and what goes on inside of a server: queues,\n"
		"                         buffers, caches, flushes, the data base\n"
		"  -w, --watch SECONDS    again and again, what came meanwhile\n"
		"  -c, --count COUNT      so often, with -w\n"
		"  -t, --timeout MS       wait at most MS milliseconds for each (5000)\n"
		"  -j, --json             one JSON array a time\n"
		"Exit status 1 when a server does not answer.\n",
	.shorts = "iuJjt:w:c:",
	.longs = longs,
	.values = values,
	.option = option,
};

static uint64_t mean(const struct pvfs_op_stats *s)
{
	return s->requests ? s->ns / s->requests : 0;
}

static void json_row(struct args *a, const char *who, const char *uri,
		     const struct pvfs_op_stats *s)
{
	struct json_object *o = json_object_new_object();

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_str(o, "op", s->name);
	json_u64(o, "requests", s->requests);
	json_u64(o, "errors", s->errors);
	json_u64(o, "bytes_in", s->bytes_in);
	json_u64(o, "bytes_out", s->bytes_out);
	json_u64(o, "mean_ns", mean(s));
	json_u64(o, "p50_ns", tool_percentile(s, 0.5));
	json_u64(o, "p90_ns", tool_percentile(s, 0.9));
	json_u64(o, "p99_ns", tool_percentile(s, 0.99));
	json_u64(o, "max_ns", s->most_ns);
	json_object_array_add(a->list, o);
}

static void text_row(struct args *a, const char *who,
		     const struct pvfs_op_stats *s)
{
	char in[32], out[32];

	if (a->header)
		printf("%-8s %-12s %10s %8s %10s %10s %9s %9s %9s %9s\n",
		       "server", "operation", "requests", "errors", "in", "out",
		       "mean us", "p50", "p99", "max");
	a->header = false;
	tool_human(s->bytes_in, in);
	tool_human(s->bytes_out, out);
	printf("%-8s %-12s %10" PRIu64 " %8" PRIu64
	       " %10s %10s %9.1f %9.1f %9.1f %9.1f\n",
	       who, s->name, s->requests, s->errors, in, out,
	       (double)mean(s) / 1e3, (double)tool_percentile(s, 0.5) / 1e3,
	       (double)tool_percentile(s, 0.99) / 1e3,
	       (double)s->most_ns / 1e3);
}

/* What came since. */
static void subtract(struct pvfs_op_stats *s, const struct seen *seen)
{
	for (int i = 0; i < seen->n; i++) {
		if (seen->op[i].op == s->op) {
			stats_subtract(s, &seen->op[i]);
			return;
		}
	}
}

static void show(struct args *a, const char *who, const struct seen *now,
		 const struct seen *before)
{
	for (int i = 0; i < now->n; i++) {
		struct pvfs_op_stats s = now->op[i];

		subtract(&s, before);
		if (!s.requests)
			continue;
		if (a->json)
			json_row(a, who, now->is.uri, &s);
		else
			text_row(a, who, &s);
	}
}

/* One of an earlier release serves all the same. */
static int fail(const char *uri)
{
	if (errno != ENOSYS)
		return tool_fail(&tool, uri);
	tool_say(&tool, "%s: %s", uri, tool_cause(ENOSYS));
	return 0;
}

static int labels(void *arg, const char *path, const char *who, const char *uri)
{
	struct args *a = arg;

	a->by.timeout_ms = a->timeout_ms;
	a->by.list = a->json ? a->list : NULL;
	a->by.show = !a->watch_s || !a->first;
	return stats_labels(&a->by, path, who, uri) ? fail(uri) : 0;
}

static int inside(void *arg, const char *path, const char *who, const char *uri)
{
	struct args *a = arg;

	a->in.timeout_ms = a->timeout_ms;
	a->in.list = a->json ? a->list : NULL;
	a->in.show = !a->watch_s || !a->first;
	return stats_inside(&a->in, path, who, uri) ? fail(uri) : 0;
}

static int stats(void *arg, const char *path, const char *who, const char *uri)
{
	struct args *a = arg;
	struct seen *seen = stats_seen_of(&a->seen, uri, sizeof(*seen)), before;

	if (!seen)
		return tool_fail(&tool, uri);
	before = *seen;
	seen->n = path ? pvfs_stats_mount(path, uri, a->timeout_ms, seen->op,
					  OPS)
		       : pvfs_stats_server(uri, a->timeout_ms, seen->op, OPS);
	if (seen->n < 0) {
		seen->n = 0;
		return fail(uri);
	}
	if (seen->n > OPS)
		seen->n = OPS;
	if (!a->watch_s || !a->first)
		show(a, who, seen, &before);
	return 0;
}

static int round_of(struct args *a, char **operand)
{
	int status;

	a->header = a->by.header = true;
	a->list = json_object_new_array();
	status = tool_each_server(&tool, operand,
				  a->inside   ? inside
				  : a->labels ? labels
					      : stats,
				  a);
	if (a->json && !(a->watch_s && a->first))
		json_line(a->list);
	else
		json_object_put(a->list);
	fflush(stdout);
	a->first = false;
	return status;
}

int main(int argc, char **argv)
{
	struct owners owners = { 0 };
	struct args a = { .timeout_ms = 5000,
			  .first = true,
			  .by.owners = &owners };
	int i = tool_options(&tool, argc, argv, &a), status;

	status = round_of(&a, argv + i);
	for (unsigned int n = 0; a.watch_s && (!a.count || n < a.count); n++) {
		sleep(a.watch_s);
		status = round_of(&a, argv + i);
	}
	stats_labels_free(&a.by);
	stats_inside_free(&a.in);
	owners_free(&owners);
	stats_seen_free(a.seen);
	return tool_done(&tool, status);
}

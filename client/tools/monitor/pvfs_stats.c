/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-stats - the requests that each server has answered, and their times. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/common/owner_names.h"
#include "client/tools/monitor/stats_show.h"
#include "client/tools/common/tool.h"

/* The previous answer of a server. */
struct previous_answer {
	struct previous_answer *next;
	char *uri;
	bool answered;
	struct pvfs_metric *rows; /* may be none */
};

struct stats_args {
	bool json;
	unsigned int groups; /* one of PVFS_METRICS_* */
	int timeout_ms;
	unsigned int watch_s, count; /* watch_s 0: once; count 0: no limit */
	bool first;
	struct stats_show show;
	struct previous_answer *seen;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct stats_args *a = arg;

	switch (opt) {
	case 'j':
		a->json = true;
		break;
	case 'u':
	case 'J':
		a->groups = PVFS_METRICS_USERS;
		a->show.jobs |= opt == 'J';
		break;
	case 'i':
		a->groups = PVFS_METRICS_INSIDE;
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
		"  -u, --users            by user instead; only administrators see other users\n"
		"  -J, --jobs             by user and job\n"
		"  -i, --inside           by transport and way, and what goes on inside of a server: queues,\n"
		"                         buffers, caches, flushes, the database\n"
		"  -w, --watch SECONDS    again and again, what came meanwhile\n"
		"  -c, --count COUNT      so often, with -w\n"
		"  -t, --timeout MS       wait at most MS milliseconds for each (5000)\n"
		"  -j, --json             one JSON array a time\n"
		"Exit status 1 when a server does not answer.\n",
	.shorts = "iuJjt:w:c:",
	.longs = longs,
	.values = values,
	.option = set_option,
};

/* ---- servers ---- */

/* Returns the record of the server; a new one has zeros.  NULL: no memory. */
static struct previous_answer *previous_of(struct previous_answer **all,
					   const char *uri)
{
	struct previous_answer *s;

	for (s = *all; s; s = s->next)
		if (!strcmp(s->uri, uri))
			return s;
	s = calloc(1, sizeof(*s));
	if (!s || !(s->uri = strdup(uri))) {
		free(s);
		return NULL;
	}
	s->next = *all;
	*all = s;
	return s;
}

static void previous_free(struct previous_answer *all)
{
	struct previous_answer *s;

	while ((s = all)) {
		all = s->next;
		pvfs_metrics_free(s->rows);
		free(s->uri);
		free(s);
	}
}

/* 0; -1 with errno. */
static int ask_server(const struct stats_args *a, const char *path,
		      const char *uri, struct pvfs_metric **rows)
{
	struct pvfs_watch *watch;
	int saved, n;

	*rows = NULL;
	if (pvfs_watch_open(path, uri, a->timeout_ms, &watch))
		return -1;
	n = pvfs_watch_metrics(watch, a->groups, NULL, 0, rows);
	saved = errno;
	pvfs_watch_close(watch);
	errno = saved;
	return n < 0 ? -1 : 0;
}

/* A server of an earlier release counts nothing, but serves. */
static int report_failure(const char *uri)
{
	if (errno != ENOSYS)
		return tool_fail(&tool, uri);
	tool_say(&tool, "%s: %s", uri, tool_cause(ENOSYS));
	return 0;
}

static int show_server(void *arg, const char *path, const char *who,
		       const char *uri)
{
	struct stats_args *a = arg;
	struct previous_answer *seen = previous_of(&a->seen, uri);
	struct stats_show *show = &a->show;
	struct pvfs_metric *rows;
	bool answers;
	int rc;

	if (!seen)
		return tool_fail(&tool, uri);
	answers = !ask_server(a, path, uri, &rows);
	rc = answers ? 0 : report_failure(uri);
	show->who = who;
	show->uri = uri;
	show->now = rows;
	show->before = seen->rows;
	/* without a previous answer, the increase is unknown */
	if (rows && (!a->watch_s || seen->answered)) {
		if (a->groups == PVFS_METRICS_INSIDE)
			stats_inside(show);
		else if (a->groups == PVFS_METRICS_USERS)
			stats_users(show);
		else
			stats_ops(show);
	}
	pvfs_metrics_free(seen->rows);
	seen->rows = rows;
	seen->answered = answers;
	return rc;
}

static int show_round(struct stats_args *a, char **operand)
{
	struct json_object *list = a->json ? json_object_new_array() : NULL;
	int status;

	a->show.header = true;
	a->show.list = list;
	status = tool_each_server(&tool, operand, show_server, a);
	if (list && !(a->watch_s && a->first))
		json_line(list);
	else
		json_object_put(list);
	fflush(stdout);
	a->first = false;
	return status;
}

int main(int argc, char **argv)
{
	struct owner_names owners = { 0 };
	struct stats_args a = { .timeout_ms = 5000,
				.groups = PVFS_METRICS_OPS,
				.first = true,
				.show.owners = &owners };
	int i = tool_options(&tool, argc, argv, &a), status;

	status = show_round(&a, argv + i);
	for (unsigned int n = 0; a.watch_s && (!a.count || n < a.count); n++) {
		sleep(a.watch_s);
		status = show_round(&a, argv + i);
	}
	owner_names_free(&owners);
	previous_free(a.seen);
	return tool_done(&tool, status);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.c - see gather.h. */
#include "gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri)
{
	struct top_server *s;

	s = reallocarray(top->server, top->servers + 1, sizeof(*s));
	if (!s)
		return false;
	top->server = s;
	s += top->servers;
	*s = (struct top_server){ .path = path ? strdup(path) : NULL };
	if (path && !s->path)
		return false;
	top->servers++;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->uri, sizeof(s->uri), "%s", uri);
	return true;
}

/* ---- what came since ---- */

static const struct pvfs_op_stats *find(const struct pvfs_op_stats *list, int n,
					const struct pvfs_op_stats *s)
{
	for (int i = 0; i < n; i++)
		if (list[i].op == s->op && list[i].requests <= s->requests)
			return &list[i];
	return NULL;
}

/* sum gets what is new in s; a server that was started anew begins at 0. */
static void add_op(struct pvfs_op_stats *sum, const struct pvfs_op_stats *s,
		   const struct pvfs_op_stats *old)
{
	static const struct pvfs_op_stats none;

	old = old ? old : &none;
	sum->requests += s->requests - old->requests;
	sum->errors += s->errors - old->errors;
	sum->bytes_in += s->bytes_in - old->bytes_in;
	sum->bytes_out += s->bytes_out - old->bytes_out;
	sum->ns += s->ns - old->ns;
	if (s->most_ns > sum->most_ns)
		sum->most_ns = s->most_ns;
	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		sum->latency[i] += s->latency[i] - old->latency[i];
}

static struct top_rates rates_of(const struct pvfs_op_stats *sum,
				 double seconds)
{
	return (struct top_rates){
		.requests = (double)sum->requests / seconds,
		.errors = (double)sum->errors / seconds,
		.in = (double)sum->bytes_in / seconds,
		.out = (double)sum->bytes_out / seconds,
		.mean_ns = sum->requests ? sum->ns / sum->requests : 0,
		.p99_ns = sum->requests ? tool_percentile(sum, 0.99) : 0,
	};
}

static void compare(struct top *top, const struct top_server *before,
		    struct top_server *now)
{
	double seconds = (double)(now->at - before->at) / 1e9;
	struct pvfs_op_stats sum = { 0 };

	now->rates = (struct top_rates){ 0 };
	if (!before->at || seconds <= 0)
		return;
	for (int i = 0; i < now->ops; i++)
		add_op(&sum, &now->op[i],
		       find(before->op, before->ops, &now->op[i]));
	now->rates = rates_of(&sum, seconds);
	top_users_add(top, before->label, before->labels, now, seconds);
}

/* ---- asking ---- */

static int at_most(int n, int max)
{
	return n < max ? n : max;
}

/* 0, or errno.  A server of an earlier release does not know users. */
static int ask_all(struct top_server *s)
{
	int n = pvfs_watch_stats(s->watch, s->op, TOP_OPS);

	if (n < 0)
		return errno;
	s->ops = at_most(n, TOP_OPS);
	n = pvfs_watch_labels(s->watch, s->label, PVFS_LABELS);
	if (n < 0 && errno != ENOSYS)
		return errno;
	s->labels = n < 0 ? 0 : at_most(n, PVFS_LABELS);
	return 0;
}

static int ask(struct top_server *s, int timeout_ms)
{
	int err = 0;

	if (!s->watch &&
	    pvfs_watch_open(s->path, s->uri, timeout_ms, &s->watch))
		return errno;
	err = ask_all(s);
	if (!err) {
		s->at = now_ns();
		return 0;
	}
	pvfs_watch_close(s->watch);
	s->watch = NULL;
	s->at = 0;
	return err;
}

void top_gather(struct top *top)
{
	struct top_server *before = malloc(sizeof(*before));

	top->users = 0;
	for (unsigned int i = 0; before && i < top->servers; i++) {
		struct top_server *s = &top->server[i];

		*before = *s;
		s->err = ask(s, top->timeout_ms);
		if (!s->err)
			compare(top, before, s);
	}
	free(before);
	top_users_join(top);
}

void top_free(struct top *top)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		pvfs_watch_close(top->server[i].watch);
		free(top->server[i].path);
	}
	free(top->server);
	free(top->user);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.c - see gather.h. */
#include "client/tools/top/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/tools/common/tool.h"

void top_init(struct top *top)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&top->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&top->changed, &attr);
	pthread_condattr_destroy(&attr);
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
	*s = (struct top_server){
		.asker = top_asker_new(top, path, uri, strncmp(name, "iod", 3)),
		.last = calloc(1, sizeof(*s->last))
	};
	if (!s->asker || !s->last) {
		top_asker_free(s->asker);
		free(s->last);
		return false;
	}
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

static void compare(struct top *top, const struct top_answer *before,
		    struct top_server *s)
{
	const struct top_answer *now = s->last;
	double seconds = (double)(now->at - before->at) / 1e9;
	struct pvfs_op_stats sum = { 0 };

	if (!before->at || seconds <= 0)
		return;
	for (int i = 0; i < now->ops; i++)
		add_op(&sum, &now->op[i],
		       find(before->op, before->ops, &now->op[i]));
	s->rates = rates_of(&sum, seconds);
	top_users_add(top, before, now, seconds);
	top_files_add(top, before, now, seconds);
}

static void take(struct top *top, struct top_server *s,
		 struct top_answer *before)
{
	*before = *s->last;
	s->rates = (struct top_rates){ 0 };
	s->err = top_asker_take(s->asker, &s->last);
	if (!s->err)
		compare(top, before, s);
	else if (s->err != ETIMEDOUT)
		s->last->at = 0;
}

void top_gather(struct top *top)
{
	struct top_answer *before = malloc(sizeof(*before));

	top->users = top->files = 0;
	top_askers_ask(top);
	for (unsigned int i = 0; before && i < top->servers; i++)
		take(top, &top->server[i], before);
	free(before);
	top_users_join(top);
	top_files_join(top);
}

void top_free(struct top *top)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		top_asker_free(top->server[i].asker);
		free(top->server[i].last);
	}
	free(top->server);
	free(top->user);
	free(top->file);
	pthread_cond_destroy(&top->changed);
	pthread_mutex_destroy(&top->lock);
}

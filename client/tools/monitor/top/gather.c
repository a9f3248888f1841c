/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.c - see gather.h. */
#include "client/tools/monitor/top/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "client/tools/common/metric.h"

void top_init(struct top *top)
{
	top->poller.timeout_ms = top->timeout_ms;
	top->poller.groups = PVFS_METRICS_OPS | PVFS_METRICS_USERS |
			     PVFS_METRICS_FILES;
	poller_init(&top->poller);
}

bool top_add(struct top *top, const char *path, const char *name,
	     const char *uri)
{
	struct top_server *s;

	s = reallocarray(top->server, top->servers + 1, sizeof(*s));
	if (!s)
		return false;
	top->server = s;
	if (!poller_add(&top->poller, path, uri, strncmp(name, "iod", 3)))
		return false;
	s += top->servers++;
	*s = (struct top_server){ 0 };
	snprintf(s->name, sizeof(s->name), "%s", name);
	return true;
}

/* ---- increases since the previous query ---- */

static void add_row(struct top *top, const struct pvfs_metric *m,
		    double seconds, struct pvfs_metric *sum)
{
	if (metric_is(m, "requests"))
		metric_add(sum, m);
	else if (metric_is(m, "user") && m->n)
		top_users_add(top, m, seconds);
	else if (metric_is(m, "file") && m->n)
		top_files_add(top, m, seconds);
}

static void compare_answers(struct top *top, const struct poller_answer *before,
			    struct top_server *s)
{
	uint64_t latency[PVFS_LATENCIES], sums[PVFS_LATENCIES] = { 0 };
	double seconds = (double)(s->last.at - before->at) / 1e9;
	struct pvfs_metric sum = { .latency = sums };

	if (!before->at || seconds <= 0)
		return;
	for (const struct pvfs_metric *m = s->last.rows; m; m = m->next) {
		const struct pvfs_metric new = metric_since(m, before->rows,
							    latency);

		add_row(top, &new, seconds, &sum);
	}
	s->rates = top_rates_of(&sum, seconds);
}

/*
 * After an error other than a timeout, a server starts again: its earlier numbers do
 * not count.
 */
static void take_answer(struct top *top, unsigned int i)
{
	struct top_server *s = &top->server[i];
	struct poller_answer before = s->last;

	s->last = (struct poller_answer){ 0 };
	s->rates = (struct top_rates){ 0 };
	s->err = poller_take(&top->poller, i, &s->last);
	if (!s->err)
		compare_answers(top, &before, s);
	if (s->err == ETIMEDOUT)
		s->last = before;
	else
		poller_answer_free(&before);
}

void top_gather(struct top *top)
{
	top->users = top->files = 0;
	poller_ask(&top->poller, clock_after_ms((unsigned int)top->timeout_ms));
	for (unsigned int i = 0; i < top->servers; i++)
		take_answer(top, i);
	top_users_join(top);
	top_files_join(top);
}

void top_free(struct top *top)
{
	poller_fini(&top->poller);
	for (unsigned int i = 0; i < top->servers; i++)
		poller_answer_free(&top->server[i].last);
	free(top->server);
	free(top->user);
	free(top->file);
}

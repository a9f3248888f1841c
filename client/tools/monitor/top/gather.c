/* SPDX-License-Identifier: BSD-2-Clause */
/* gather.c - see gather.h. */
#include "client/tools/monitor/top/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/common/metric.h"
#include "common/util/clock.h"
#include "common/util/number.h"

/* ---- rates, also over several servers ---- */

static struct top_rates rates_of(const struct pvfs_metric *m, double seconds)
{
	return (struct top_rates){
		.requests = (double)m->n / seconds,
		.errors = (double)m->errors / seconds,
		.in = (double)m->bytes_in / seconds,
		.out = (double)m->bytes_out / seconds,
		.mean_ns = metric_mean(m),
		.p99_ns = m->n ? metric_percentile(m, 0.99) : 0,
	};
}

/* For qsort(): more bytes first, then more requests; 0: equal. */
static int compare_rates(const struct top_rates *x, const struct top_rates *y)
{
	double p = x->in + x->out, q = y->in + y->out;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return 0;
}

/* Adds r to *to.  Their mean time needs a request in at least one of them. */
static void add_rates(struct top_rates *to, const struct top_rates *r)
{
	double all = to->requests + r->requests;

	to->mean_ns = (uint64_t)(((double)to->mean_ns * to->requests +
				  (double)r->mean_ns * r->requests) /
				 all);
	to->requests = all;
	to->errors += r->errors;
	to->in += r->in;
	to->out += r->out;
}

/* ---- users and jobs over all servers ---- */

static int by_user(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;

	int order = strcmp(x->way, y->way);

	if (!order)
		order = strcmp(x->uid, y->uid);
	return order ? order : strcmp(x->job, y->job);
}

static int by_user_rates(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;
	int order = compare_rates(&x->rates, &y->rates);

	return order ? order : by_user(a, b);
}

static void add_user(struct top *top, const struct pvfs_metric *row,
		     double seconds)
{
	struct top_user *u;

	u = reallocarray(top->user, top->users + 1, sizeof(*u));
	if (!u)
		return;
	top->user = u;
	u += top->users++;
	*u = (struct top_user){ .rates = rates_of(row, seconds) };
	snprintf(u->uid, sizeof(u->uid), "%s", pvfs_metric_label(row, "uid"));
	snprintf(u->job, sizeof(u->job), "%s", pvfs_metric_label(row, "job"));
	snprintf(u->way, sizeof(u->way), "%s", pvfs_metric_label(row, "way"));
}

/* Merges rows of the same user and job. */
static void join_users(struct top *top)
{
	struct top_user *u = top->user;
	unsigned int n = 0;

	if (!top->users)
		return;
	qsort(u, top->users, sizeof(*u), by_user);
	for (unsigned int i = 0; i < top->users; i++)
		if (n && !by_user(&u[n - 1], &u[i]))
			add_rates(&u[n - 1].rates, &u[i].rates);
		else
			u[n++] = u[i];
	top->users = n;
	qsort(u, n, sizeof(*u), by_user_rates);
}

/* ---- the busiest files over all servers ---- */

static int by_handle(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;

	return strcmp(x->handle, y->handle);
}

static int by_file_rates(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;
	int order = compare_rates(&x->rates, &y->rates);

	return order ? order : by_handle(a, b);
}

static void add_file(struct top *top, const struct pvfs_metric *row,
		     double seconds)
{
	struct top_file *f;

	f = reallocarray(top->file, top->files + 1, sizeof(*f));
	if (!f)
		return;
	top->file = f;
	f += top->files++;
	*f = (struct top_file){ .rates = rates_of(row, seconds) };
	snprintf(f->handle, sizeof(f->handle), "%s",
		 pvfs_metric_label(row, "handle"));
}

static const char *name_of(const struct top *top, const char *handle)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		const struct pvfs_metric *m = top->server[i].last.names;

		for (; m; m = m->next)
			if (!strcmp(pvfs_metric_label(m, "handle"), handle) &&
			    pvfs_metric_label(m, "name")[0])
				return pvfs_metric_label(m, "name");
	}
	return "";
}

static void want_name(struct poller *p, const char *handle)
{
	uint64_t number;

	if (number_parse_hex(handle, UINT64_MAX, &number))
		return;
	for (unsigned int i = 0; i < p->nwanted; i++)
		if (p->wanted[i] == number)
			return;
	if (p->nwanted < PVFS_METRIC_FILES)
		p->wanted[p->nwanted++] = number;
}

static const struct pvfs_metric *next_file(const struct pvfs_metric *m)
{
	while (m && !metric_is(m, "file"))
		m = m->next;
	return m;
}

/*
 * The files of this page, then those that may be on the next: the busiest of each
 * server first.
 */
static void choose_wanted(struct top *top)
{
	const struct pvfs_metric **at = calloc(top->servers,
					       sizeof(struct pvfs_metric *));

	top->poller.nwanted = 0;
	for (unsigned int i = 0; i < top->files; i++)
		want_name(&top->poller, top->file[i].handle);
	for (unsigned int i = 0; at && i < top->servers; i++)
		at[i] = next_file(top->server[i].last.rows);
	for (int k = 0; at && k < PVFS_METRIC_FILES; k++)
		for (unsigned int i = 0; i < top->servers; i++) {
			if (!at[i])
				continue;
			want_name(&top->poller,
				  pvfs_metric_label(at[i], "handle"));
			at[i] = next_file(at[i]->next);
		}
	free(at);
}

/* Merges rows of the same file and finds its name.  Chooses the names to request next. */
static void join_files(struct top *top)
{
	struct top_file *f = top->file;
	unsigned int n = 0;

	if (top->files)
		qsort(f, top->files, sizeof(*f), by_handle);
	for (unsigned int i = 0; i < top->files; i++) {
		if (!n || by_handle(&f[n - 1], &f[i])) {
			f[n] = f[i];
			f[n++].name = name_of(top, f[i].handle);
			continue;
		}
		add_rates(&f[n - 1].rates, &f[i].rates);
	}
	top->files = n;
	if (n)
		qsort(f, n, sizeof(*f), by_file_rates);
	choose_wanted(top);
}

/* ---- servers ---- */

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
		add_user(top, m, seconds);
	else if (metric_is(m, "file") && m->n)
		add_file(top, m, seconds);
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
	s->rates = rates_of(&sum, seconds);
}

/*
 * Takes the answer of server i.  After an error other than a timeout, forgets the server's earlier
 * numbers, because the server may have restarted.
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
	join_users(top);
	join_files(top);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - see worker.h. */
#include "client/tools/exporter/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is asked here for the manager's space counts as an error there: it has no disk
 * that it would share with iods. */
static void drop_disk(struct report *r)
{
	int k = 0;

	for (int i = 0; i < r->ops; i++) {
		if (strcmp(r->op[i].name, "DISK"))
			r->op[k++] = r->op[i];
	}
	r->ops = k;
}

/* A server of an earlier release counts nothing, as while servers are upgraded. */
static int ask_stats(struct worker *w)
{
	struct report *r = w->next;
	int n = pvfs_watch_stats(w->watch, r->op, VIEW_OPS);

	r->ops = 0;
	if (n < 0)
		return errno == ENOSYS ? 0 : errno;
	r->ops = n < VIEW_OPS ? n : VIEW_OPS;
	if (w->is_mgr)
		drop_disk(r);
	return 0;
}

static int busiest(const void *a, const void *b)
{
	const struct pvfs_label *x = a, *y = b;
	bool others = x->flags & PVFS_LABEL_OTHERS;

	if ((x->flags ^ y->flags) & PVFS_LABEL_DIRECT)
		return x->flags & PVFS_LABEL_DIRECT ? 1 : -1;
	if ((x->flags ^ y->flags) & PVFS_LABEL_OTHERS)
		return others ? 1 : -1;
	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return 0;
}

/* Of one kind, sorted: those beyond max, and the others, become one that is called others. */
static int bound_kind(struct pvfs_label *label, int n, int max)
{
	struct pvfs_label others = { .flags = label->flags |
					      PVFS_LABEL_OTHERS };
	int kept = 0;

	for (int i = 0; i < n; i++) {
		if (kept < max && !(label[i].flags & PVFS_LABEL_OTHERS)) {
			label[kept++] = label[i];
			continue;
		}
		others.requests += label[i].requests;
		others.bytes_in += label[i].bytes_in;
		others.bytes_out += label[i].bytes_out;
	}
	if (kept < n)
		label[kept++] = others;
	return kept;
}

/* What was done without requests stays apart. */
static int bound_labels(struct pvfs_label *label, int n, int max)
{
	int asked = 0, kept, direct;

	qsort(label, (size_t)n, sizeof(*label), busiest);
	while (asked < n && !(label[asked].flags & PVFS_LABEL_DIRECT))
		asked++;
	kept = asked ? bound_kind(label, asked, max) : 0;
	direct = n > asked ? bound_kind(label + asked, n - asked, max) : 0;
	memmove(label + kept, label + asked, (size_t)direct * sizeof(*label));
	return kept + direct;
}

/* A server of an earlier release has none. */
static int ask_labels(struct worker *w)
{
	struct report *r = w->next;
	int n;

	r->labels = 0;
	if (!w->labels)
		return 0;
	n = pvfs_watch_labels(w->watch, r->label, PVFS_LABELS);
	if (n < 0)
		return errno == ENOSYS ? 0 : errno;
	if (n > PVFS_LABELS)
		n = PVFS_LABELS;
	r->labels = bound_labels(r->label, n, w->labels);
	return 0;
}

/* A server of an earlier release does not tell. */
static int ask_inside(struct worker *w)
{
	struct report *r = w->next;
	int times = pvfs_watch_times(w->watch, r->time, PVFS_TIMES), gauges = 0;

	r->gauges = r->times = 0;
	if (times >= 0)
		gauges = pvfs_watch_gauges(w->watch, r->gauge, PVFS_GAUGES);
	if (times < 0 || gauges < 0)
		return errno == ENOSYS ? 0 : errno;
	r->times = times < PVFS_TIMES ? times : PVFS_TIMES;
	r->gauges = gauges < PVFS_GAUGES ? gauges : PVFS_GAUGES;
	return 0;
}

/* 0, or errno: then the connection is of no more use. */
static int ask_once(struct worker *w)
{
	struct report *r = w->next;
	int err = 0;

	if (!w->watch &&
	    pvfs_watch_open(w->mount, w->address, w->timeout_ms, &w->watch))
		return errno;
	if (pvfs_watch_ping(w->watch, &r->ping) ||
	    pvfs_watch_statfs(w->watch, &r->space))
		err = errno;
	else
		err = ask_stats(w);
	if (!err)
		err = ask_labels(w);
	if (!err)
		err = ask_inside(w);
	if (err) {
		pvfs_watch_close(w->watch);
		w->watch = NULL;
	}
	return err;
}

/* A server that was started anew knows nothing of the connection. */
static int ask(struct worker *w)
{
	bool old = w->watch != NULL;
	int err = ask_once(w);

	return err && old && err != ETIMEDOUT ? ask_once(w) : err;
}

static void take(struct worker *w, int err)
{
	struct report *r = w->last;

	w->asks = false;
	w->silent = err == ETIMEDOUT;
	w->err = err;
	if (!err) {
		w->last = w->next;
		w->next = r;
	}
	pthread_cond_broadcast(w->changed);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int err;

	pthread_mutex_lock(w->lock);
	while (!w->stop) {
		if (!w->asks) {
			pthread_cond_wait(&w->asked, w->lock);
			continue;
		}
		pthread_mutex_unlock(w->lock);
		err = ask(w);
		pthread_mutex_lock(w->lock);
		take(w, err);
	}
	pthread_mutex_unlock(w->lock);
	pvfs_watch_close(w->watch);
	return NULL;
}

int worker_start(struct worker *w)
{
	int rc = -ENOMEM;

	w->last = calloc(1, sizeof(*w->last));
	w->next = calloc(1, sizeof(*w->next));
	if (!w->last || !w->next)
		goto free;
	pthread_cond_init(&w->asked, NULL);
	rc = -pthread_create(&w->thread, NULL, work, w);
	if (!rc)
		return 0;
	pthread_cond_destroy(&w->asked);
free:
	free(w->last);
	free(w->next);
	return rc;
}

void worker_ask(struct worker *w)
{
	w->asks = true;
	pthread_cond_signal(&w->asked);
}

void worker_stop(struct worker *w)
{
	w->stop = true;
	pthread_cond_signal(&w->asked);
}

void worker_join(struct worker *w)
{
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->asked);
	free(w->last);
	free(w->next);
}

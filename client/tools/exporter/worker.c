/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - see worker.h. */
#include "worker.h"

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

static int ask_stats(struct worker *w)
{
	struct report *r = w->next;
	int n = pvfs_watch_stats(w->watch, r->op, VIEW_OPS);

	if (n < 0)
		return errno;
	r->ops = n < VIEW_OPS ? n : VIEW_OPS;
	if (w->is_mgr)
		drop_disk(r);
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

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
	int n = pvfs_stats_mount(w->mount, w->address, w->timeout_ms, r->op,
				 VIEW_OPS);

	if (n < 0)
		return errno;
	r->ops = n < VIEW_OPS ? n : VIEW_OPS;
	if (w->is_mgr)
		drop_disk(r);
	return 0;
}

/* 0, or errno. */
static int ask(struct worker *w)
{
	struct report *r = w->next;

	if (pvfs_ping_mount(w->mount, w->address, w->timeout_ms, &r->ping) ||
	    pvfs_statfs_mount(w->mount, w->address, w->timeout_ms, &r->space))
		return errno;
	return ask_stats(w);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asker.c - a thread for each server: one that stands still holds up its own alone.
 *
 *	idle --top_askers_ask()--> asks --> answered, idle
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "client/tools/top/gather.h"

#define SILENT_MS 50u /* for those that were silent the last time */

struct top_asker {
	struct top *top;
	char *path, *uri;
	pthread_t thread;
	bool started, names;
	/* under top->lock: */
	pthread_cond_t asked;
	bool asks, stop;
	bool silent; /* took too long, and has not answered since */
	int err; /* of the last answer */
	/* the thread's own while it asks: */
	struct top_answer *next; /* also what names are asked for */
	struct pvfs_watch *watch; /* or NULL */
};

static int at_most(int n, int max)
{
	return n < max ? n : max;
}

/* Of no server of an earlier release, and for administrators alone. */
static int ask_files(struct top_asker *a)
{
	struct top_answer *to = a->next;

	to->files = pvfs_watch_hot(a->watch, to->file, PVFS_HOT);
	if (to->files < 0) {
		to->files = to->names = 0;
		return errno == ENOSYS || errno == EPERM ? 0 : errno;
	}
	return pvfs_watch_names(a->watch, to->name, to->names) ? errno : 0;
}

/* 0, or errno.  A server of an earlier release does not know users. */
static int ask_all(struct top_asker *a)
{
	struct top_answer *to = a->next;
	int n = pvfs_watch_stats(a->watch, to->op, TOP_OPS);

	if (n < 0)
		return errno;
	to->ops = at_most(n, TOP_OPS);
	n = pvfs_watch_labels(a->watch, to->label, PVFS_LABELS);
	if (n < 0 && errno != ENOSYS)
		return errno;
	to->labels = n < 0 ? 0 : at_most(n, PVFS_LABELS);
	return ask_files(a);
}

static int ask(struct top_asker *a)
{
	int err;

	if (!a->watch &&
	    pvfs_watch_open(a->path, a->uri, a->top->timeout_ms, &a->watch))
		return errno;
	err = ask_all(a);
	if (!err) {
		a->next->at = clock_now();
		return 0;
	}
	pvfs_watch_close(a->watch);
	a->watch = NULL;
	return err;
}

static void *work(void *arg)
{
	struct top_asker *a = arg;
	struct top *top = a->top;

	pthread_mutex_lock(&top->lock);
	while (!a->stop) {
		if (!a->asks) {
			pthread_cond_wait(&a->asked, &top->lock);
			continue;
		}
		pthread_mutex_unlock(&top->lock);
		int err = ask(a);
		pthread_mutex_lock(&top->lock);
		a->err = err;
		a->silent = err == ETIMEDOUT;
		a->asks = false;
		pthread_cond_broadcast(&top->changed);
	}
	pthread_mutex_unlock(&top->lock);
	pvfs_watch_close(a->watch);
	return NULL;
}

struct top_asker *top_asker_new(struct top *top, const char *path,
				const char *uri, bool names)
{
	struct top_asker *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	pthread_cond_init(&a->asked, NULL);
	a->top = top;
	a->names = names;
	a->path = path ? strdup(path) : NULL;
	a->uri = strdup(uri);
	a->next = calloc(1, sizeof(*a->next));
	if ((!path || a->path) && a->uri && a->next)
		return a;
	top_asker_free(a);
	return NULL;
}

void top_asker_free(struct top_asker *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->top->lock);
	a->stop = true;
	pthread_cond_signal(&a->asked);
	pthread_mutex_unlock(&a->top->lock);
	if (a->started)
		pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->asked);
	free(a->next);
	free(a->uri);
	free(a->path);
	free(a);
}

/* What is asked for, unless the thread still has it. */
static void want_names(struct top_asker *a)
{
	const struct top *top = a->top;

	if (a->asks)
		return;
	a->next->names = a->names ? top->nwanted : 0;
	memcpy(a->next->name, top->wanted,
	       (size_t)a->next->names * sizeof(top->wanted[0]));
}

/* Under the lock.  Its thread comes with the first question, when the signals of a terminal
 * have who takes them. */
static void begin(struct top_asker *a)
{
	want_names(a);
	if (!a->started) {
		a->err = pthread_create(&a->thread, NULL, work, a);
		a->started = !a->err;
	}
	a->asks = a->started;
	pthread_cond_signal(&a->asked);
}

static bool answered(const struct top *top, bool silent_too)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		const struct top_asker *a = top->server[i].asker;

		if (a->asks && (silent_too || !a->silent))
			return false;
	}
	return true;
}

static void wait_for(struct top *top, bool silent_too, unsigned int ms)
{
	const struct timespec until = clock_timespec(clock_after_ms(ms));

	while (!answered(top, silent_too) &&
	       !pthread_cond_timedwait(&top->changed, &top->lock, &until))
		;
}

void top_askers_ask(struct top *top)
{
	unsigned int ms = (unsigned int)top->timeout_ms;

	pthread_mutex_lock(&top->lock);
	for (unsigned int i = 0; i < top->servers; i++)
		begin(top->server[i].asker);
	wait_for(top, true, ms < SILENT_MS ? ms : SILENT_MS);
	wait_for(top, false, ms);
	pthread_mutex_unlock(&top->lock);
}

int top_asker_take(struct top_asker *a, struct top_answer **answer)
{
	struct top_answer *old = *answer;
	int err;

	pthread_mutex_lock(&a->top->lock);
	a->silent |= a->asks;
	err = a->asks ? ETIMEDOUT : a->err;
	if (!err) {
		*answer = a->next;
		a->next = old;
	}
	pthread_mutex_unlock(&a->top->lock);
	return err;
}

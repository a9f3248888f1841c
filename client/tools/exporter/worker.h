/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - a thread that asks one server, when it is told to.  Who tells it does not
 * wait for it longer than it likes: a server that stands still holds its own thread alone.
 *
 *	idle --worker_ask()--> asked --> asks --> idle, and *changed is told
 */
#ifndef EXPORTER_WORKER_H
#define EXPORTER_WORKER_H

#include <pthread.h>
#include <stdint.h>

#include "client/tools/exporter/view.h"

struct worker {
	/* given to worker_start() */
	pthread_mutex_t *lock; /* of all below but those that are constant */
	pthread_cond_t *changed; /* told when it has asked */
	const char *mount;
	int timeout_ms; /* of each of its questions */
	int labels; /* as many users and jobs, and the others; 0: none */
	char name[16];
	bool is_mgr;
	char address[288];
	/* private */
	pthread_t thread;
	pthread_cond_t asked;
	bool asks, stop;
	bool silent; /* the last time it took too long, and it has not answered since */
	int err; /* of the last answer */
	const char *
		reason; /* why it was not up in the last round; the round's own */
	struct report *last, *next; /* next is the thread's own, and this: */
	struct pvfs_watch *watch; /* or NULL */
};

/* 0, or -errno. */
int worker_start(struct worker *w);
/* Under the lock: begins, unless it still asks. */
void worker_ask(struct worker *w);
/* Under the lock: it ends when it does not ask any more; then waits for that without. */
void worker_stop(struct worker *w);
void worker_join(struct worker *w);

#endif

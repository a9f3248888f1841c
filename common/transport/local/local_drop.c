/* SPDX-License-Identifier: BSD-2-Clause */
/* local_drop.c - see local_drop.h. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "local_drop.h"

#define STACK (PTHREAD_STACK_MIN + (64u << 10)) /* sanitizers want more */

struct drop {
	TAILQ_ENTRY(drop) link;
	uid_t uid;
	int fd;
	bool closing; /* by one of the threads */
};

/* The device's and its threads': the last one frees it. */
struct local_drops {
	pthread_mutex_t lock;
	TAILQ_HEAD(, drop) list; /* oldest first */
	unsigned int n, threads;
	bool starting; /* the newest thread */
	bool left;
};

struct local_drops *local_drops_new(void)
{
	struct local_drops *drops = calloc(1, sizeof(*drops));

	if (!drops)
		return NULL;
	pthread_mutex_init(&drops->lock, NULL);
	TAILQ_INIT(&drops->list);
	return drops;
}

/* With the lock, which it gives up. */
static void unlock(struct local_drops *drops)
{
	bool last = drops->left && !drops->threads;

	pthread_mutex_unlock(&drops->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&drops->lock);
	free(drops);
}

void local_drops_leave(struct local_drops *drops)
{
	pthread_mutex_lock(&drops->lock);
	drops->left = true;
	unlock(drops);
}

bool local_drops_full(struct local_drops *drops)
{
	bool full;

	pthread_mutex_lock(&drops->lock);
	full = drops->n >= LOCAL_DROPS_MAX;
	pthread_mutex_unlock(&drops->lock);
	return full;
}

static bool is_held_up(const struct local_drops *drops, uid_t uid)
{
	const struct drop *d;

	TAILQ_FOREACH(d, &drops->list, link)
		if (d->closing && d->uid == uid)
			return true;
	return false;
}

static struct drop *next(const struct local_drops *drops)
{
	struct drop *d;

	TAILQ_FOREACH(d, &drops->list, link)
		if (!d->closing && !is_held_up(drops, d->uid))
			return d;
	return NULL;
}

static void forget(struct local_drops *drops, struct drop *d)
{
	TAILQ_REMOVE(&drops->list, d, link);
	drops->n--;
	free(d);
}

static void *close_all(void *arg);

static int start(struct local_drops *drops)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, close_all, drops);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

/* One at a time: what it will take is not known before it does. */
static void hire(struct local_drops *drops)
{
	if (drops->starting || drops->threads == LOCAL_DROPPERS || !next(drops))
		return;
	drops->starting = !start(drops);
	drops->threads += drops->starting;
}

static void *close_all(void *arg)
{
	struct local_drops *drops = arg;
	struct drop *d;

	pthread_mutex_lock(&drops->lock);
	drops->starting = false;
	while ((d = next(drops))) {
		d->closing = true;
		hire(drops);
		pthread_mutex_unlock(&drops->lock);
		close(d->fd);
		pthread_mutex_lock(&drops->lock);
		forget(drops, d);
	}
	drops->threads--;
	unlock(drops);
	return NULL;
}

static bool hand_over(const struct local_giver *from, int fd)
{
	struct local_drops *drops = from->drops;
	struct drop *d = malloc(sizeof(*d));
	bool taken;

	if (!d)
		return false;
	*d = (struct drop){ .uid = from->uid, .fd = fd };
	pthread_mutex_lock(&drops->lock);
	TAILQ_INSERT_TAIL(&drops->list, d, link);
	drops->n++;
	hire(drops);
	taken = drops->threads;
	if (!taken)
		forget(drops, d);
	pthread_mutex_unlock(&drops->lock);
	return taken;
}

/* Memory, as all but a gong should be, has nothing to wait for. */
void local_drop(const struct local_giver *from, int fd)
{
	if (fcntl(fd, F_GET_SEALS) >= 0 || !hand_over(from, fd))
		close(fd);
}

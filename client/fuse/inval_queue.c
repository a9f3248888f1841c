/* SPDX-License-Identifier: BSD-2-Clause */
/* inval_queue.c - see inval_queue.h. */
#include "client/fuse/inval_queue.h"

#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"
#include "common/util/quiet_thread.h"

#define STACK_SIZE (256u * 1024)

TAILQ_HEAD(inval_list, inval);

struct inval_queue {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t more, ended;
	struct inval_list waiting;
	/* handles of the files that are being dropped; 0: none */
	uint64_t active[INVAL_QUEUE_THREADS];
	unsigned int threads, idle;
	bool stop;
};

struct inval_queue *inval_queue_new(void)
{
	struct inval_queue *ds = calloc(1, sizeof(*ds));

	if (!ds)
		return NULL;
	TAILQ_INIT(&ds->waiting);
	pthread_mutex_init(&ds->lock, NULL);
	pthread_cond_init(&ds->more, NULL);
	pthread_cond_init(&ds->ended, NULL);
	return ds;
}

/* ---- one file ---- */

/* If the kernel does not know the file (ENOENT), there is nothing to drop. */
static void invalidate_file(const struct inval *drop)
{
	struct fsd *d = drop->c.d;

	fuse_lowlevel_notify_inval_inode(d->se, fsd_swap(d, drop->f->handle), 0,
					 0);
}

static void invalidate_list(struct inval_list *same)
{
	struct inval *drop;

	invalidate_file(TAILQ_FIRST(same));
	while ((drop = TAILQ_FIRST(same))) {
		TAILQ_REMOVE(same, drop, link);
		deadline_begin();
		drop->dropped(drop);
		free(drop);
	}
}

/* ---- the threads ---- */

/*
 * Called with the lock.  Returns the index of handle in at_work; INVAL_QUEUE_THREADS: not
 * found.
 */
static unsigned int slot_of(const struct inval_queue *ds, uint64_t handle)
{
	unsigned int i;

	for (i = 0; i < INVAL_QUEUE_THREADS && ds->active[i] != handle; i++)
		;
	return i;
}

/*
 * Called with the lock.  Returns the first drop whose file no thread handles, or NULL.
 */
static struct inval *next_inval(const struct inval_queue *ds)
{
	struct inval *drop;

	TAILQ_FOREACH(drop, &ds->waiting, link)
		if (slot_of(ds, drop->f->handle) == INVAL_QUEUE_THREADS)
			break;
	return drop;
}

/* Called with the lock.  Moves all drops of this file to *same. */
static void take_file(struct inval_queue *ds, uint64_t handle,
		      struct inval_list *same)
{
	struct inval *drop, *next;

	TAILQ_INIT(same);
	for (drop = TAILQ_FIRST(&ds->waiting); drop; drop = next) {
		next = TAILQ_NEXT(drop, link);
		if (drop->f->handle != handle)
			continue;
		TAILQ_REMOVE(&ds->waiting, drop, link);
		TAILQ_INSERT_TAIL(same, drop, link);
	}
}

/* Called with the lock, which is released meanwhile. */
static void invalidate_queued(struct inval_queue *ds, uint64_t handle)
{
	unsigned int slot = slot_of(ds, 0);
	struct inval_list same;

	take_file(ds, handle, &same);
	ds->active[slot] = handle;
	pthread_mutex_unlock(&ds->lock);
	invalidate_list(&same);
	pthread_mutex_lock(&ds->lock);
	ds->active[slot] = 0;
}

static void *inval_queue_main(void *arg)
{
	struct inval_queue *ds = arg;
	struct inval *drop;

	pthread_mutex_lock(&ds->lock);
	while ((drop = next_inval(ds)) || !ds->stop) {
		if (drop) {
			invalidate_queued(ds, drop->f->handle);
			continue;
		}
		ds->idle++;
		pthread_cond_wait(&ds->more, &ds->lock);
		ds->idle--;
	}
	ds->threads--;
	pthread_cond_broadcast(&ds->ended);
	pthread_cond_broadcast(&ds->more);
	pthread_mutex_unlock(&ds->lock);
	return NULL;
}

/* Called with the lock.  False: there is no thread, and none can be started. */
static bool wake_thread(struct inval_queue *ds)
{
	if (ds->idle) {
		pthread_cond_signal(&ds->more);
		return true;
	}
	if (ds->threads == INVAL_QUEUE_THREADS)
		return true;
	if (!quiet_thread(STACK_SIZE, inval_queue_main, ds, NULL))
		ds->threads++;
	return ds->threads;
}

/* ---- for other threads ---- */

/* Used if there is no memory or no thread. */
static void invalidate_here(const struct inval *what)
{
	struct inval drop = *what;

	watched_descriptor_hand_over();
	invalidate_file(&drop);
	drop.dropped(&drop);
}

void inval_queue_add(struct inval_queue *ds, const struct inval *what)
{
	struct inval *drop = malloc(sizeof(*drop));
	bool begun = false;

	if (drop) {
		*drop = *what;
		pthread_mutex_lock(&ds->lock);
		begun = wake_thread(ds);
		if (begun)
			TAILQ_INSERT_TAIL(&ds->waiting, drop, link);
		pthread_mutex_unlock(&ds->lock);
	}
	if (begun)
		return;
	free(drop);
	invalidate_here(what);
}

bool inval_queue_stop(struct inval_queue *ds, unsigned int ms)
{
	struct timespec at = clock_timespec(clock_after_ms(ms));
	bool ended;
	int rc = 0;

	pthread_mutex_lock(&ds->lock);
	ds->stop = true;
	pthread_cond_broadcast(&ds->more);
	while (ds->threads && !rc)
		rc = pthread_cond_clockwait(&ds->ended, &ds->lock,
					    CLOCK_MONOTONIC, &at);
	ended = !ds->threads;
	pthread_mutex_unlock(&ds->lock);
	return ended;
}

void inval_queue_free(struct inval_queue *ds)
{
	if (!ds)
		return;
	inval_queue_stop(ds, 0);
	pthread_mutex_lock(&ds->lock);
	while (ds->threads)
		pthread_cond_wait(&ds->ended, &ds->lock);
	pthread_mutex_unlock(&ds->lock);
	pthread_cond_destroy(&ds->ended);
	pthread_cond_destroy(&ds->more);
	pthread_mutex_destroy(&ds->lock);
	free(ds);
}

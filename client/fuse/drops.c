/* SPDX-License-Identifier: BSD-2-Clause */
/* drops.c - see drops.h. */
#include "client/fuse/drops.h"

#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"
#include "common/util/quiet_thread.h"

#define STACK_SIZE (256u * 1024)

TAILQ_HEAD(drop_list, drop);

struct drops {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t more, ended;
	struct drop_list waiting;
	/* handles of the files that are being dropped; 0: none */
	uint64_t at_work[DROPS_THREADS];
	unsigned int threads, idle;
	bool stop;
};

struct drops *drops_new(void)
{
	struct drops *ds = calloc(1, sizeof(*ds));

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
static void drop_kept(const struct drop *drop)
{
	struct fsd *d = drop->c.d;

	fuse_lowlevel_notify_inval_inode(d->se, fsd_swap(d, drop->f->handle), 0,
					 0);
}

static void end_all(struct drop_list *same)
{
	struct drop *drop;

	drop_kept(TAILQ_FIRST(same));
	while ((drop = TAILQ_FIRST(same))) {
		TAILQ_REMOVE(same, drop, link);
		deadline_begin();
		drop->dropped(drop);
		free(drop);
	}
}

/* ---- the threads ---- */

/*
 * Called with the lock.  Returns the index of handle in at_work; DROPS_THREADS: not
 * found.
 */
static unsigned int place_of(const struct drops *ds, uint64_t handle)
{
	unsigned int i;

	for (i = 0; i < DROPS_THREADS && ds->at_work[i] != handle; i++)
		;
	return i;
}

/*
 * Called with the lock.  Returns the first drop whose file no thread handles, or NULL.
 */
static struct drop *find(const struct drops *ds)
{
	struct drop *drop;

	TAILQ_FOREACH(drop, &ds->waiting, link)
		if (place_of(ds, drop->f->handle) == DROPS_THREADS)
			break;
	return drop;
}

/* Called with the lock.  Moves all drops of this file to *same. */
static void take_same(struct drops *ds, uint64_t handle, struct drop_list *same)
{
	struct drop *drop, *next;

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
static void work(struct drops *ds, uint64_t handle)
{
	unsigned int place = place_of(ds, 0);
	struct drop_list same;

	take_same(ds, handle, &same);
	ds->at_work[place] = handle;
	pthread_mutex_unlock(&ds->lock);
	end_all(&same);
	pthread_mutex_lock(&ds->lock);
	ds->at_work[place] = 0;
}

static void *drops_main(void *arg)
{
	struct drops *ds = arg;
	struct drop *drop;

	pthread_mutex_lock(&ds->lock);
	while ((drop = find(ds)) || !ds->stop) {
		if (drop) {
			work(ds, drop->f->handle);
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
static bool call_thread(struct drops *ds)
{
	if (ds->idle) {
		pthread_cond_signal(&ds->more);
		return true;
	}
	if (ds->threads == DROPS_THREADS)
		return true;
	if (!quiet_thread(STACK_SIZE, drops_main, ds, NULL))
		ds->threads++;
	return ds->threads;
}

/* ---- for other threads ---- */

/* Used if there is no memory or no thread. */
static void drop_here(const struct drop *what)
{
	struct drop drop = *what;

	watched_descriptor_hand_over();
	drop_kept(&drop);
	drop.dropped(&drop);
}

void drops_begin(struct drops *ds, const struct drop *what)
{
	struct drop *drop = malloc(sizeof(*drop));
	bool begun = false;

	if (drop) {
		*drop = *what;
		pthread_mutex_lock(&ds->lock);
		begun = call_thread(ds);
		if (begun)
			TAILQ_INSERT_TAIL(&ds->waiting, drop, link);
		pthread_mutex_unlock(&ds->lock);
	}
	if (begun)
		return;
	free(drop);
	drop_here(what);
}

bool drops_end(struct drops *ds, unsigned int ms)
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

void drops_free(struct drops *ds)
{
	if (!ds)
		return;
	drops_end(ds, 0);
	pthread_mutex_lock(&ds->lock);
	while (ds->threads)
		pthread_cond_wait(&ds->ended, &ds->lock);
	pthread_mutex_unlock(&ds->lock);
	pthread_cond_destroy(&ds->ended);
	pthread_cond_destroy(&ds->more);
	pthread_mutex_destroy(&ds->lock);
	free(ds);
}

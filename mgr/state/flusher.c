/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flusher.c - one log flush for all waiting items.  If a flush takes no longer than two
 * wake-ups of threads, the owner flushes.  Otherwise the flusher's thread does, and the
 * owner continues meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "common/util/clock.h"
#include "mgr/state/cond_int.h"
#include "mgr/state/flusher.h"

#define RETRY_NS 50000000 /* pause after a flush that found no space */

STAILQ_HEAD(items, flusher_item);

struct flusher {
	pthread_mutex_t lock; /* protects waiting, done, flushing, stop */
	pthread_cond_t work;
	struct items waiting;
	struct items done;
	bool flushing;
	/* average duration of flushes, ns; used only by the thread that flushes */
	uint64_t took;
	bool stop;

	atomic_bool any_done; /* saves the owner from taking the lock */
	struct timing flushed;
	struct store *st;
	uint64_t quick_ns;
	void (*wake)(void *arg);
	void *arg;
	pthread_t thread;

	/* with several managers: no thread, and no item is in done */
	bool replicated;
	struct managers_log log;
	/* clock_now() when a change of `added` was proposed, to measure its duration; 0: none */
	uint64_t proposed;
	uint64_t proposed_change;

	/* used by the owner only */
	struct items added;
	/* become durable with the next flush of `added` */
	struct items deferred;
	unsigned int ndeferred, most_deferred;
	unsigned int inside;
	bool handed; /* the thread has items that it has not returned yet */
};

static int flush_log(struct flusher *fl)
{
	uint64_t start = clock_now();
	int rc = store_flush(fl->st);
	uint64_t took = clock_now() - start;

	timing_add(&fl->flushed, took, 0, rc);
	fl->took = (fl->took * 7 + took) / 8;
	return rc;
}

/*
 * Retries a flush that found no disk space, after a pause.  The items are committed, and become
 * durable when there is space.
 */
static void try_later(struct flusher *fl, struct items *batch)
{
	struct timespec ts;

	STAILQ_CONCAT(batch, &fl->waiting);
	STAILQ_CONCAT(&fl->waiting, batch);
	if (fl->stop)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += RETRY_NS;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&fl->work, &fl->lock, &ts);
}

static void flush_round(struct flusher *fl)
{
	struct items batch = STAILQ_HEAD_INITIALIZER(batch);
	int rc;

	STAILQ_CONCAT(&batch, &fl->waiting);
	fl->flushing = true;
	pthread_mutex_unlock(&fl->lock);
	rc = flush_log(fl);
	pthread_mutex_lock(&fl->lock);
	fl->flushing = false;
	if (rc && !store_failed(fl->st)) {
		try_later(fl, &batch);
		return;
	}
	if (!rc)
		STAILQ_CONCAT(&fl->done, &batch);
	/* after a failure no item becomes durable: the owner checks store_failed() */
	atomic_store(&fl->any_done, true);
	fl->wake(fl->arg);
}

static void *flusher_main(void *arg)
{
	struct flusher *fl = arg;

	pthread_mutex_lock(&fl->lock);
	while (!fl->stop) {
		if (STAILQ_EMPTY(&fl->waiting))
			pthread_cond_wait(&fl->work, &fl->lock);
		else
			flush_round(fl);
	}
	pthread_mutex_unlock(&fl->lock);
	return NULL;
}

static struct flusher *flusher_new(struct store *st, unsigned int most_deferred)
{
	struct flusher *fl = calloc(1, sizeof(*fl));

	if (!fl)
		return NULL;
	pthread_mutex_init(&fl->lock, NULL);
	cond_init_monotonic(&fl->work);
	STAILQ_INIT(&fl->waiting);
	STAILQ_INIT(&fl->done);
	STAILQ_INIT(&fl->added);
	STAILQ_INIT(&fl->deferred);
	fl->st = st;
	fl->most_deferred = most_deferred;
	return fl;
}

static void flusher_free(struct flusher *fl)
{
	pthread_cond_destroy(&fl->work);
	pthread_mutex_destroy(&fl->lock);
	free(fl);
}

int flusher_open(struct store *st, uint64_t quick_ns,
		 unsigned int most_deferred, void (*wake)(void *arg), void *arg,
		 struct flusher **out)
{
	struct flusher *fl = flusher_new(st, most_deferred);
	int rc;

	if (!fl)
		return -ENOMEM;
	fl->quick_ns = quick_ns;
	fl->wake = wake;
	fl->arg = arg;
	rc = pthread_create(&fl->thread, NULL, flusher_main, fl);
	if (rc) {
		flusher_free(fl);
		return -rc;
	}
	*out = fl;
	return 0;
}

int flusher_open_replicated(struct store *st, const struct managers_log *log,
			    unsigned int most_deferred, struct flusher **out)
{
	struct flusher *fl = flusher_new(st, most_deferred);

	if (!fl)
		return -ENOMEM;
	fl->replicated = true;
	fl->log = *log;
	*out = fl;
	return 0;
}

static void stop_thread(struct flusher *fl)
{
	pthread_mutex_lock(&fl->lock);
	fl->stop = true;
	pthread_cond_signal(&fl->work);
	pthread_mutex_unlock(&fl->lock);
	pthread_join(fl->thread, NULL);
}

void flusher_close(struct flusher *fl)
{
	if (!fl)
		return;
	if (!fl->replicated)
		stop_thread(fl);
	flusher_free(fl);
}

void flusher_add(struct flusher *fl, struct flusher_item *item)
{
	STAILQ_INSERT_TAIL(&fl->added, item, link);
	fl->inside++;
}

void flusher_add_deferred(struct flusher *fl, struct flusher_item *item)
{
	STAILQ_INSERT_TAIL(&fl->deferred, item, link);
	fl->inside++;
	if (++fl->ndeferred >= fl->most_deferred)
		flusher_release_deferred(fl);
}

void flusher_release_deferred(struct flusher *fl)
{
	STAILQ_CONCAT(&fl->added, &fl->deferred);
	fl->ndeferred = 0;
}

/* ---- several managers ---- */

bool flusher_leads(const struct flusher *fl)
{
	return !fl->replicated || fl->log.leads(fl->log.arg);
}

static bool may_reveal(const struct flusher *fl, uint64_t change)
{
	return store_is_committed(fl->st, change) && flusher_leads(fl);
}

bool flusher_add_read(struct flusher *fl, struct flusher_item *item)
{
	if (!fl->replicated || may_reveal(fl, store_last_change(fl->st))) {
		item->durable(item);
		return true;
	}
	flusher_add(fl, item);
	return false;
}

static void propose_added(struct flusher *fl)
{
	uint64_t change = store_last_change(fl->st);
	struct flusher_item *item;

	STAILQ_FOREACH(item, &fl->added, link)
		item->change = change;
	STAILQ_CONCAT(&fl->waiting, &fl->added);
	if (!fl->proposed && !store_is_committed(fl->st, change)) {
		fl->proposed = clock_now();
		fl->proposed_change = change;
	}
	fl->log.propose(fl->log.arg);
}

static void time_proposal(struct flusher *fl)
{
	if (!fl->proposed || !store_is_committed(fl->st, fl->proposed_change))
		return;
	timing_add(&fl->flushed, clock_now() - fl->proposed, 0, 0);
	fl->proposed = 0;
}

static int collect_committed(struct flusher *fl)
{
	struct flusher_item *item;
	int n = 0;

	fl->log.collect(fl->log.arg);
	time_proposal(fl);
	while ((item = STAILQ_FIRST(&fl->waiting)) &&
	       may_reveal(fl, item->change)) {
		STAILQ_REMOVE_HEAD(&fl->waiting, link);
		fl->inside--;
		n++;
		item->durable(item);
	}
	return n;
}

/* ---- one manager ---- */

static void hand_over(struct flusher *fl)
{
	bool idle;

	fl->handed = true;
	pthread_mutex_lock(&fl->lock);
	idle = STAILQ_EMPTY(&fl->waiting);
	STAILQ_CONCAT(&fl->waiting, &fl->added);
	pthread_mutex_unlock(&fl->lock);
	if (idle)
		pthread_cond_signal(&fl->work);
}

/*
 * Flushes in the owner's thread.  The flusher's thread is idle and does not touch the items.  If
 * the flush fails, the owner hands them to the thread, which retries it.
 */
static void flush_here(struct flusher *fl)
{
	if (flush_log(fl)) {
		hand_over(fl);
		return;
	}
	pthread_mutex_lock(&fl->lock);
	STAILQ_CONCAT(&fl->done, &fl->added);
	pthread_mutex_unlock(&fl->lock);
	atomic_store(&fl->any_done, true);
}

static bool is_quick(const struct flusher *fl)
{
	return !fl->handed && fl->took < fl->quick_ns;
}

bool flusher_will_flush_here(const struct flusher *fl)
{
	return !STAILQ_EMPTY(&fl->added) && !fl->replicated && is_quick(fl);
}

uint64_t flusher_flush_ns(const struct flusher *fl)
{
	return fl->took;
}

bool flusher_submit(struct flusher *fl)
{
	if (STAILQ_EMPTY(&fl->added))
		return false;
	flusher_release_deferred(fl);
	if (fl->replicated) {
		propose_added(fl);
		return false;
	}
	if (!is_quick(fl)) {
		hand_over(fl);
		return false;
	}
	flush_here(fl);
	return true;
}

static int collect_flushed(struct flusher *fl)
{
	struct items done = STAILQ_HEAD_INITIALIZER(done);
	struct flusher_item *item;
	int n = 0;

	pthread_mutex_lock(&fl->lock);
	atomic_store(&fl->any_done, false);
	STAILQ_CONCAT(&done, &fl->done);
	fl->handed = fl->flushing || !STAILQ_EMPTY(&fl->waiting);
	pthread_mutex_unlock(&fl->lock);
	while ((item = STAILQ_FIRST(&done))) {
		STAILQ_REMOVE_HEAD(&done, link);
		fl->inside--;
		n++;
		item->durable(item);
	}
	return n;
}

int flusher_collect(struct flusher *fl)
{
	int n;

	if (fl->replicated)
		n = collect_committed(fl);
	else if (atomic_load(&fl->any_done))
		n = collect_flushed(fl);
	else
		return 0;
	return store_failed(fl->st) ? -EIO : n;
}

int flusher_wait(struct flusher *fl)
{
	return fl->replicated ? fl->log.wait(fl->log.arg) : store_flush(fl->st);
}

unsigned int flusher_count(const struct flusher *fl)
{
	return fl->inside;
}

const struct timing *flusher_flush_times(const struct flusher *fl)
{
	return &fl->flushed;
}

bool flusher_is_empty(const struct flusher *fl)
{
	return fl->inside == 0;
}

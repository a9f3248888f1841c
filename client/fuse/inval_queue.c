/* SPDX-License-Identifier: BSD-2-Clause */
/* inval_queue.c - see inval_queue.h. */
#include "client/fuse/inval_queue.h"

#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/quiet_thread.h"
#include "common/util/watched_descriptor.h"

#define STACK_SIZE (256u * 1024)

TAILQ_HEAD(inval_list, inval);

struct inval_queue {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t more, ended;
	struct inval_list waiting;
	/* handles of the files that are being invalidated; 0: none */
	uint64_t active[INVAL_QUEUE_THREADS];
	unsigned int threads, idle;
	bool stop;
};

struct inval_queue *inval_queue_new(void)
{
	struct inval_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	TAILQ_INIT(&q->waiting);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->ended, NULL);
	return q;
}

/* ---- one file ---- */

/* If the kernel does not know the file (ENOENT), there is nothing to drop. */
static void invalidate_file(const struct inval *inval)
{
	struct fuse_daemon *d = inval->c.d;

	fuse_lowlevel_notify_inval_inode(
		d->se, fuse_daemon_swap_ino(d, inval->f->handle), 0, 0);
}

static void invalidate_list(struct inval_list *same)
{
	struct inval *inval;

	invalidate_file(TAILQ_FIRST(same));
	while ((inval = TAILQ_FIRST(same))) {
		TAILQ_REMOVE(same, inval, link);
		deadline_begin();
		inval->done(inval);
		free(inval);
	}
}

/* ---- the threads ---- */

/*
 * Called with the lock.  Returns the index of handle in active, or INVAL_QUEUE_THREADS if
 * no thread handles it.
 */
static unsigned int slot_of(const struct inval_queue *q, uint64_t handle)
{
	unsigned int i;

	for (i = 0; i < INVAL_QUEUE_THREADS && q->active[i] != handle; i++)
		;
	return i;
}

/*
 * Called with the lock.  Returns the first entry whose file no thread handles, or NULL.
 */
static struct inval *next_inval(const struct inval_queue *q)
{
	struct inval *inval;

	TAILQ_FOREACH(inval, &q->waiting, link)
		if (slot_of(q, inval->f->handle) == INVAL_QUEUE_THREADS)
			break;
	return inval;
}

/* Called with the lock.  Moves all entries of this file to *same. */
static void take_file(struct inval_queue *q, uint64_t handle,
		      struct inval_list *same)
{
	struct inval *inval, *next;

	TAILQ_INIT(same);
	for (inval = TAILQ_FIRST(&q->waiting); inval; inval = next) {
		next = TAILQ_NEXT(inval, link);
		if (inval->f->handle != handle)
			continue;
		TAILQ_REMOVE(&q->waiting, inval, link);
		TAILQ_INSERT_TAIL(same, inval, link);
	}
}

/* Called with the lock, which is released meanwhile. */
static void invalidate_queued(struct inval_queue *q, uint64_t handle)
{
	unsigned int slot = slot_of(q, 0);
	struct inval_list same;

	take_file(q, handle, &same);
	q->active[slot] = handle;
	pthread_mutex_unlock(&q->lock);
	invalidate_list(&same);
	pthread_mutex_lock(&q->lock);
	q->active[slot] = 0;
}

static void *inval_queue_main(void *arg)
{
	struct inval_queue *q = arg;
	struct inval *inval;

	pthread_mutex_lock(&q->lock);
	while ((inval = next_inval(q)) || !q->stop) {
		if (inval) {
			invalidate_queued(q, inval->f->handle);
			continue;
		}
		q->idle++;
		pthread_cond_wait(&q->more, &q->lock);
		q->idle--;
	}
	q->threads--;
	pthread_cond_broadcast(&q->ended);
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* Called with the lock.  False: there is no thread, and none can be started. */
static bool wake_thread(struct inval_queue *q)
{
	if (q->idle) {
		pthread_cond_signal(&q->more);
		return true;
	}
	if (q->threads == INVAL_QUEUE_THREADS)
		return true;
	if (!quiet_thread(STACK_SIZE, inval_queue_main, q, NULL))
		q->threads++;
	return q->threads;
}

/* ---- for other threads ---- */

/* Invalidates in the calling thread, because there is no memory or no thread. */
static void invalidate_here(const struct inval *what)
{
	struct inval inval = *what;

	watched_descriptor_hand_over();
	invalidate_file(&inval);
	inval.done(&inval);
}

void inval_queue_add(struct inval_queue *q, const struct inval *what)
{
	struct inval *inval = malloc(sizeof(*inval));
	bool begun = false;

	if (inval) {
		*inval = *what;
		pthread_mutex_lock(&q->lock);
		begun = wake_thread(q);
		if (begun)
			TAILQ_INSERT_TAIL(&q->waiting, inval, link);
		pthread_mutex_unlock(&q->lock);
	}
	if (begun)
		return;
	free(inval);
	invalidate_here(what);
}

bool inval_queue_stop(struct inval_queue *q, unsigned int ms)
{
	struct timespec at = clock_timespec(clock_after_ms(ms));
	bool ended;
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_broadcast(&q->more);
	while (q->threads && !rc)
		rc = pthread_cond_clockwait(&q->ended, &q->lock,
					    CLOCK_MONOTONIC, &at);
	ended = !q->threads;
	pthread_mutex_unlock(&q->lock);
	return ended;
}

void inval_queue_free(struct inval_queue *q)
{
	if (!q)
		return;
	inval_queue_stop(q, 0);
	pthread_mutex_lock(&q->lock);
	while (q->threads)
		pthread_cond_wait(&q->ended, &q->lock);
	pthread_mutex_unlock(&q->lock);
	pthread_cond_destroy(&q->ended);
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

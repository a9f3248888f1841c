/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checkpointer.c - writes changed pages back in a thread of its own, so that no reply
 * waits for it. This bounds the log that a recovery reads, and frees old log files.
 * The thread sleeps while nothing changes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "mgr/state/cond_int.h"
#include "mgr/state/flusher.h"

#define CHECKPOINT_KBYTE (64u << 10) /* KiB of log between checkpoints */
#define CHECKPOINT_SHORT (1u << 10) /* ... when disk space is short */
#define CHECKPOINT_SECONDS 60 /* ... or after this time */
#define CHECKPOINT_TICK 2 /* seconds between checks */

struct checkpointer {
	pthread_mutex_t lock; /* protects stop and hurry */
	pthread_cond_t work;
	bool stop;
	bool hurry; /* a caller asked for a checkpoint now */
	atomic_bool dirty;
	struct store *st;
	pthread_t thread;
};

static void wait_for_tick(struct checkpointer *cp)
{
	struct timespec ts;

	if (cp->hurry)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += CHECKPOINT_TICK;
	pthread_cond_timedwait(&cp->work, &cp->lock, &ts);
}

static int checkpoint_unlocked(struct checkpointer *cp, unsigned int kbyte)
{
	int rc;

	pthread_mutex_unlock(&cp->lock);
	rc = store_checkpoint(cp->st, kbyte);
	pthread_mutex_lock(&cp->lock);
	return rc;
}

/*
 * After a change: checks regularly how long the log is, for CHECKPOINT_SECONDS.  Then writes all
 * changed pages.
 */
static void busy_period(struct checkpointer *cp)
{
	int left = CHECKPOINT_SECONDS / CHECKPOINT_TICK;

	while (!cp->stop && left-- > 0) {
		wait_for_tick(cp);
		cp->hurry = false;
		checkpoint_unlocked(cp, store_is_short(cp->st)
						? CHECKPOINT_SHORT
						: CHECKPOINT_KBYTE);
	}
	atomic_store(&cp->dirty, false);
	if (!cp->stop && checkpoint_unlocked(cp, 0))
		atomic_store(&cp->dirty, true); /* no space: try again */
}

static void *checkpointer_main(void *arg)
{
	struct checkpointer *cp = arg;

	pthread_mutex_lock(&cp->lock);
	while (!cp->stop && !store_failed(cp->st)) {
		if (atomic_load(&cp->dirty))
			busy_period(cp);
		else
			pthread_cond_wait(&cp->work, &cp->lock);
	}
	pthread_mutex_unlock(&cp->lock);
	return NULL;
}

int checkpointer_open(struct store *st, struct checkpointer **out)
{
	struct checkpointer *cp;
	int rc;

	cp = calloc(1, sizeof(*cp));
	if (!cp)
		return -ENOMEM;
	pthread_mutex_init(&cp->lock, NULL);
	cond_init_monotonic(&cp->work);
	cp->st = st;
	rc = pthread_create(&cp->thread, NULL, checkpointer_main, cp);
	if (rc) {
		pthread_cond_destroy(&cp->work);
		pthread_mutex_destroy(&cp->lock);
		free(cp);
		return -rc;
	}
	*out = cp;
	return 0;
}

void checkpointer_close(struct checkpointer *cp)
{
	if (!cp)
		return;
	pthread_mutex_lock(&cp->lock);
	cp->stop = true;
	pthread_cond_signal(&cp->work);
	pthread_mutex_unlock(&cp->lock);
	pthread_join(cp->thread, NULL);
	pthread_cond_destroy(&cp->work);
	pthread_mutex_destroy(&cp->lock);
	free(cp);
}

void checkpointer_wake(struct checkpointer *cp)
{
	if (atomic_load(&cp->dirty))
		return;
	pthread_mutex_lock(&cp->lock);
	atomic_store(&cp->dirty, true);
	pthread_cond_signal(&cp->work);
	pthread_mutex_unlock(&cp->lock);
}

void checkpointer_hurry(struct checkpointer *cp)
{
	pthread_mutex_lock(&cp->lock);
	cp->hurry = true;
	atomic_store(&cp->dirty, true);
	pthread_cond_signal(&cp->work);
	pthread_mutex_unlock(&cp->lock);
}

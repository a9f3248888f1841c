/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c - the reports that one cache gets from the monitor of the process. */
#include "common/buffer/watch.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buffer/watch_int.h"

#define QUIET_YIELDS 10

/* The only monitor of the process; see watch.h for the reason. */
static struct {
	pthread_once_t once;
	pthread_mutex_t lock; /* held during fork() */
	struct monitor *mon; /* of this process, or of its parent */
	unsigned int refs;
} shared = { PTHREAD_ONCE_INIT, PTHREAD_MUTEX_INITIALIZER, NULL, 0 };

static void fork_prepare(void)
{
	pthread_mutex_lock(&shared.lock);
}

static void fork_done(void)
{
	pthread_mutex_unlock(&shared.lock);
}

static void register_fork_handlers(void)
{
	pthread_atfork(fork_prepare, fork_done, fork_done);
}

/* The caller holds the lock. */
static int shared_get(struct monitor **mon)
{
	int rc = 0;

	if (shared.mon && shared.mon->owner != getpid()) {
		monitor_abandon(shared.mon);
		shared.mon = NULL;
		shared.refs = 0;
	}
	if (!shared.mon)
		rc = monitor_open(&shared.mon);
	if (rc)
		return rc;
	shared.refs++;
	*mon = shared.mon;
	return 0;
}

int watch_open(struct watch **out)
{
	struct watch *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	pthread_once(&shared.once, register_fork_handlers);
	pthread_mutex_lock(&shared.lock);
	rc = shared_get(&w->mon);
	if (!rc)
		monitor_join(w->mon, w);
	pthread_mutex_unlock(&shared.lock);
	if (rc) {
		free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void watch_close(struct watch *w)
{
	pthread_mutex_lock(&shared.lock);
	monitor_leave(w->mon, w);
	if (--shared.refs == 0) {
		monitor_close(shared.mon);
		shared.mon = NULL;
	}
	pthread_mutex_unlock(&shared.lock);
	free(w);
}

/* Called by the child's only thread. In a fork handler this thread may still hold the lock. */
void watch_abandon(struct watch *w)
{
	monitor_abandon(w->mon);
}

int watch_add(struct watch *w, uintptr_t lo, uintptr_t hi)
{
	struct range whole;
	int rc = maps_around(lo, hi, &whole);

	return rc ? rc : monitor_arm(w->mon, whole.lo, whole.hi);
}

/* The monitor's thread has little to do, so a thread that just unmapped gets here before it. */
bool watch_quiet(struct watch *w)
{
	int i;

	for (i = 0; i < QUIET_YIELDS && !monitor_quiet(w->mon); i++)
		sched_yield();
	return i < QUIET_YIELDS;
}

bool watch_gone(struct watch *w, uintptr_t *lo, uintptr_t *hi)
{
	unsigned int tail = atomic_load(&w->tail);

	if (atomic_exchange(&w->lost, false)) {
		*lo = 0;
		*hi = UINTPTR_MAX;
		return true;
	}
	if (tail == atomic_load(&w->head))
		return false;
	*lo = w->ring[tail % WATCH_RING].lo;
	*hi = w->ring[tail % WATCH_RING].hi;
	atomic_store(&w->tail, tail + 1);
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper.c - the thread that connects, so that no call waits for that, and that closes
 * files whose descriptors are gone.  It is created when there is work, and sleeps while
 * nothing is open.
 */
#include <errno.h>
#include <time.h>

#include "common/util/quiet_thread.h"
#include "client/preload/self.h"

static void until_next(struct self *s)
{
	struct timespec when;

	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_sec++;
	pthread_cond_timedwait(&s->work, &s->lock, &when);
}

/* True: there is something to check again later. */
static bool work(struct self *s)
{
	bool left;

	doors_connect(&s->doors);
	pthread_mutex_lock(&s->scan);
	left = atomic_load(&s->closing) || desc_sweep(s, false);
	pthread_mutex_unlock(&s->scan);
	return left;
}

static void *run(void *arg)
{
	struct self *s = arg;
	bool left = false;

	self_enter();
	pthread_mutex_lock(&s->lock);
	while (!atomic_load(&s->closing)) {
		if (left)
			until_next(s);
		else if (!s->wanted)
			pthread_cond_wait(&s->work, &s->lock);
		s->wanted = false;
		pthread_mutex_unlock(&s->lock);
		left = work(s);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void helper_wake(struct self *s)
{
	pthread_mutex_lock(&s->lock);
	s->wanted = true;
	if (!s->helped)
		s->helped = !quiet_thread(256u << 10, run, s, NULL);
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* helper.c - see helper.h. */
#include "client/preload/bypass/helper.h"

#include <time.h>

#include "client/preload/own_call.h"
#include "common/util/quiet_thread.h"

#define STACK_SIZE (256u << 10)

void helper_init(struct helper *h, enum helper_next (*work)(void *arg),
		 void *arg)
{
	pthread_condattr_t mono;

	h->work = work;
	h->arg = arg;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&mono);
	pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
	pthread_cond_init(&h->woken, &mono);
	pthread_condattr_destroy(&mono);
}

/* Called with the lock. */
static void wait_for_work(struct helper *h, enum helper_next next)
{
	struct timespec when;

	if (next == HELPER_SLEEP) {
		pthread_cond_wait(&h->woken, &h->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_sec++;
	pthread_cond_timedwait(&h->woken, &h->lock, &when);
}

static void *helper_main(void *arg)
{
	enum helper_next next = HELPER_SLEEP;
	struct helper *h = arg;

	own_call_enter();
	pthread_mutex_lock(&h->lock);
	while (next != HELPER_END) {
		if (!h->wanted)
			wait_for_work(h, next);
		h->wanted = false;
		pthread_mutex_unlock(&h->lock);
		next = h->work(h->arg);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

void helper_wake(struct helper *h)
{
	pthread_mutex_lock(&h->lock);
	h->wanted = true;
	if (!h->running)
		h->running = !quiet_thread(STACK_SIZE, helper_main, h, NULL);
	pthread_cond_signal(&h->woken);
	pthread_mutex_unlock(&h->lock);
}

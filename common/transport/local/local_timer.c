/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_timer.c - deadlines of handshakes: few at a time, so the list is not
 * sorted.  A timerfd in the epoll set makes them fire also in an
 * application's own event loop.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "local.h"

static struct local_timer *earliest(struct local_cq *cq)
{
	struct local_timer *t, *first = TAILQ_FIRST(&cq->timers);

	TAILQ_FOREACH(t, &cq->timers, link)
		if (t->at < first->at)
			first = t;
	return first;
}

static void timerfd_follow(struct local_cq *cq)
{
	const struct local_timer *first = earliest(cq);
	uint64_t at = first ? first->at : 0;
	struct itimerspec its = {
		.it_value.tv_sec = (time_t)(at / 1000000000u),
		.it_value.tv_nsec = (long)(at % 1000000000u),
	};

	timerfd_settime(cq->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

static void timers_fire(struct local_src *src, uint32_t events)
{
	struct local_cq *cq = container_of(src, struct local_cq, timer_src);
	uint64_t now = clock_now();
	struct local_timer *t;

	while ((t = earliest(cq)) && t->at <= now) {
		TAILQ_REMOVE(&cq->timers, t, link);
		t->at = 0;
		t->fire(t);
	}
	timerfd_follow(cq);
}

int local_timers_open(struct local_cq *cq)
{
	int rc;

	TAILQ_INIT(&cq->timers);
	cq->timer_src.ready = timers_fire;
	cq->timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_NONBLOCK | TFD_CLOEXEC);
	if (cq->timerfd < 0)
		return -errno;
	rc = local_cq_add(cq, cq->timerfd, &cq->timer_src, EPOLLIN);
	if (rc)
		close(cq->timerfd);
	return rc;
}

void local_timer_set(struct local_cq *cq, struct local_timer *timer,
		     uint64_t at)
{
	if (timer->at)
		TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = at ?: 1;
	TAILQ_INSERT_TAIL(&cq->timers, timer, link);
	if (earliest(cq) == timer)
		timerfd_follow(cq);
}

/* The timerfd may then fire for nothing, which is harmless. */
void local_timer_clear(struct local_cq *cq, struct local_timer *timer)
{
	if (!timer->at)
		return;
	TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = 0;
}

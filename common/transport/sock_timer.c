/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_timer.c - deadlines of a progress context. A timerfd in the epoll set makes them fire in an
 * application's own event loop too.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/transport/sock.h"

static void timerfd_follow(struct sock_cq *cq)
{
	struct sock_timer *first = TAILQ_FIRST(&cq->timers);
	uint64_t at = first ? first->at : 0;
	struct itimerspec its = {
		.it_value = clock_timespec(at),
	};

	timerfd_settime(cq->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

static void timers_fire(struct sock_src *src, uint32_t events)
{
	struct sock_cq *cq = container_of(src, struct sock_cq, timer_src);
	uint64_t now = clock_now();
	struct sock_timer *timer;

	while ((timer = TAILQ_FIRST(&cq->timers)) && timer->at <= now) {
		TAILQ_REMOVE(&cq->timers, timer, link);
		timer->at = 0;
		timer->fire(timer);
	}
	timerfd_follow(cq);
}

int sock_timers_open(struct sock_cq *cq)
{
	int rc;

	TAILQ_INIT(&cq->timers);
	cq->timer_src.ready = timers_fire;
	cq->timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_NONBLOCK | TFD_CLOEXEC);
	if (cq->timerfd < 0)
		return -errno;
	rc = sock_cq_add(cq, cq->timerfd, &cq->timer_src, EPOLLIN);
	if (rc)
		close(cq->timerfd);
	return rc;
}

/* Most deadlines are later than all others, so search from the end. */
void sock_timer_set(struct sock_cq *cq, struct sock_timer *timer, uint64_t at)
{
	struct sock_timer *before;

	if (timer->at)
		TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = at ?: 1;
	before = TAILQ_LAST(&cq->timers, sock_timers);
	while (before && before->at > timer->at)
		before = TAILQ_PREV(before, sock_timers, link);
	if (before)
		TAILQ_INSERT_AFTER(&cq->timers, before, timer, link);
	else
		TAILQ_INSERT_HEAD(&cq->timers, timer, link);
	if (timer == TAILQ_FIRST(&cq->timers))
		timerfd_follow(cq);
}

/* Leaves the timerfd set: a spurious wake-up is harmless. */
void sock_timer_clear(struct sock_cq *cq, struct sock_timer *timer)
{
	if (!timer->at)
		return;
	TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = 0;
}

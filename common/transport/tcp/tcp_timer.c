/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_timer.c - deadlines of handshakes.  A timerfd in the epoll set makes
 * them fire also in an application's own event loop.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tcp.h"

static void timerfd_follow(struct tcp_cq *cq)
{
	struct tcp_timer *first = TAILQ_FIRST(&cq->timers);
	uint64_t at = first ? first->at : 0;
	struct itimerspec its = {
		.it_value.tv_sec = (time_t)(at / 1000000000u),
		.it_value.tv_nsec = (long)(at % 1000000000u),
	};

	timerfd_settime(cq->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

static void timers_fire(struct tcp_src *src, uint32_t events)
{
	struct tcp_cq *cq = container_of(src, struct tcp_cq, timer_src);
	uint64_t now = clock_now();
	struct tcp_timer *timer;

	while ((timer = TAILQ_FIRST(&cq->timers)) && timer->at <= now) {
		TAILQ_REMOVE(&cq->timers, timer, link);
		timer->at = 0;
		timer->fire(timer);
	}
	timerfd_follow(cq);
}

int tcp_timers_open(struct tcp_cq *cq)
{
	int rc;

	TAILQ_INIT(&cq->timers);
	cq->timer_src.ready = timers_fire;
	cq->timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_NONBLOCK | TFD_CLOEXEC);
	if (cq->timerfd < 0)
		return -errno;
	rc = tcp_cq_add(cq, cq->timerfd, &cq->timer_src, EPOLLIN);
	if (rc)
		close(cq->timerfd);
	return rc;
}

void tcp_timers_close(struct tcp_cq *cq)
{
	close(cq->timerfd);
}

/* Most are set for later than all others: look from the end. */
void tcp_timer_set(struct tcp_cq *cq, struct tcp_timer *timer, uint64_t at)
{
	struct tcp_timer *before;

	if (timer->at)
		TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = at ?: 1;
	before = TAILQ_LAST(&cq->timers, tcp_timers);
	while (before && before->at > timer->at)
		before = TAILQ_PREV(before, tcp_timers, link);
	if (before)
		TAILQ_INSERT_AFTER(&cq->timers, before, timer, link);
	else
		TAILQ_INSERT_HEAD(&cq->timers, timer, link);
	if (timer == TAILQ_FIRST(&cq->timers))
		timerfd_follow(cq);
}

/* The timerfd may then fire for nothing, which is harmless. */
void tcp_timer_clear(struct tcp_cq *cq, struct tcp_timer *timer)
{
	if (!timer->at)
		return;
	TAILQ_REMOVE(&cq->timers, timer, link);
	timer->at = 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_wait.c - sleeping until the inner cq has work or something is due here. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "common/transport/fault/fault_priv.h"

static uint64_t earlier(uint64_t next, uint64_t due)
{
	return due && due < next ? due : next;
}

/* Executes what is due on ep now. Returns the time of the next. */
static uint64_t ep_due(struct fault_ep *ep, uint64_t now, uint64_t next)
{
	if (ep->connect.due && ep->connect.due <= now)
		fault_connect_later(ep);
	if (ep->gone_at && ep->gone_at <= now)
		fault_break(ep, -ETIMEDOUT, -ETIMEDOUT);
	if (ep->held_until && ep->held_until <= now)
		fault_release(ep);
	next = earlier(next, ep->connect.due);
	next = earlier(next, ep->gone_at);
	return earlier(next, ep->held_until);
}

uint64_t fault_run_due(struct fault_cq *cq)
{
	uint64_t now = clock_now(), next = CLOCK_NEVER;
	struct fault_ep *ep;
	struct fault_ev *e;

	if (fault_stalled(cq))
		return cq->stalled;
	LIST_FOREACH(ep, &cq->eps, link)
		next = ep_due(ep, now, next);
	TAILQ_FOREACH(e, &cq->events, link)
		next = earlier(next, e->due ? e->due : 1);
	return TAILQ_EMPTY(&cq->ready) ? next : now;
}

static int wait_stalled(struct fault_cq *c, uint64_t deadline)
{
	uint64_t until = c->stalled < deadline ? c->stalled : deadline;
	struct pollfd pfd = { .fd = c->wake_fd, .events = POLLIN };
	eventfd_t wakes;

	if (poll(&pfd, 1, clock_left_ms(until)) == 1) {
		eventfd_read(c->wake_fd, &wakes);
		return 0;
	}
	return clock_now() >= deadline ? -ETIMEDOUT : 0;
}

int fault_cq_wait(struct tp_cq *cq, uint64_t deadline)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	uint64_t next = fault_run_due(c);
	int rc;

	if (fault_stalled(c))
		return wait_stalled(c, deadline);
	if (next > deadline)
		return tp_cq_wait(c->inner, deadline);
	rc = tp_cq_wait(c->inner, next); /* flushes, even if next is now */
	fault_run_due(c);
	return rc == -ETIMEDOUT ? 0 : rc;
}

void fault_cq_wake(struct tp_cq *cq)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	int saved = errno;

	eventfd_write(c->wake_fd, 1);
	errno = saved;
	tp_cq_wake(c->inner);
}

int fault_cq_fd(struct tp_cq *cq)
{
	return ((struct fault_cq *)cq)->poll_fd;
}

/* The timer fires at next; never if that is CLOCK_NEVER. */
static void set_timer(struct fault_cq *c, uint64_t next)
{
	struct itimerspec at = { 0 };

	if (next != CLOCK_NEVER)
		at.it_value = clock_timespec(next);
	timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void fault_cq_hold(struct tp_cq *cq)
{
	tp_cq_hold(((struct fault_cq *)cq)->inner);
}

void fault_cq_release(struct tp_cq *cq)
{
	tp_cq_release(((struct fault_cq *)cq)->inner);
}

int fault_cq_arm(struct tp_cq *cq)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	uint64_t next = fault_run_due(c);

	set_timer(c, next);
	if (fault_stalled(c))
		return 0;
	return tp_cq_arm(c->inner) || next <= clock_now();
}

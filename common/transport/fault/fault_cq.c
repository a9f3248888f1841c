/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_cq.c - a wrapped completion queue: opens and closes it, stalls it, and queues the
 * completions and events that this provider makes.  fault_progress.c reports them.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/transport/fault/fault_priv.h"

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int watch_fd(struct fault_cq *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(c->poll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int open_fds(struct fault_cq *c)
{
	int fd = tp_cq_fd(c->inner), rc;

	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->timer_fd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	c->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->wake_fd < 0 || c->timer_fd < 0 || c->poll_fd < 0)
		return -errno;
	rc = watch_fd(c, c->timer_fd);
	return rc || fd < 0 ? rc : watch_fd(c, fd);
}

int fault_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq)
{
	struct fault_cq *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->cq.dev = dev;
	c->wake_fd = c->timer_fd = c->poll_fd = -1;
	TAILQ_INIT(&c->ready);
	TAILQ_INIT(&c->events);
	LIST_INIT(&c->eps);
	LIST_INIT(&c->listeners);
	rc = tp_cq_open(fault_dev(dev)->inner, depth, &c->inner);
	if (!rc)
		rc = open_fds(c);
	if (rc) {
		fault_cq_close(&c->cq);
		return rc;
	}
	*cq = &c->cq;
	return 0;
}

void fault_cq_purge(struct fault_cq *cq, const struct fault_ep *ep)
{
	struct fault_wc *w, *next_w;
	struct fault_ev *e, *next_e;

	for (w = TAILQ_FIRST(&cq->ready); w; w = next_w) {
		next_w = TAILQ_NEXT(w, link);
		if (ep && w->wc.ep != &ep->ep)
			continue;
		TAILQ_REMOVE(&cq->ready, w, link);
		free(w);
	}
	for (e = TAILQ_FIRST(&cq->events); e; e = next_e) {
		next_e = TAILQ_NEXT(e, link);
		if (ep && e->ev.ep != &ep->ep)
			continue;
		TAILQ_REMOVE(&cq->events, e, link);
		if (e->ev.req)
			tp_reject(e->ev.req, NULL, 0);
		free(e);
	}
}

void fault_cq_close(struct tp_cq *cq)
{
	struct fault_cq *c = (struct fault_cq *)cq;

	fault_cq_purge(c, NULL);
	close_fd(c->poll_fd);
	close_fd(c->timer_fd);
	close_fd(c->wake_fd);
	if (c->inner)
		tp_cq_close(c->inner);
	free(c);
}

void fault_cq_abandon(struct tp_cq *cq)
{
	struct fault_cq *c = (struct fault_cq *)cq;

	close_fd(c->poll_fd);
	close_fd(c->timer_fd);
	close_fd(c->wake_fd);
	tp_cq_abandon(c->inner);
}

void fault_cq_add_completion(struct fault_cq *cq, const struct tp_wc *wc)
{
	struct fault_wc *w = malloc(sizeof(*w));

	if (!w)
		abort(); /* a test tool without memory cannot continue */
	w->wc = *wc;
	TAILQ_INSERT_TAIL(&cq->ready, w, link);
}

void fault_cq_add_event(struct fault_cq *cq, const struct tp_event *ev,
			uint64_t due)
{
	struct fault_ev *e = malloc(sizeof(*e));

	if (!e)
		abort();
	e->ev = *ev;
	e->due = due;
	TAILQ_INSERT_TAIL(&cq->events, e, link);
}

void fault_cq_stall(struct fault_cq *cq, uint32_t ms)
{
	cq->stalled = clock_after_ms(ms);
}

bool fault_cq_is_stalled(const struct fault_cq *cq)
{
	return clock_now() < cq->stalled;
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

void fault_cq_hold(struct tp_cq *cq)
{
	tp_cq_hold(((struct fault_cq *)cq)->inner);
}

void fault_cq_release(struct tp_cq *cq)
{
	tp_cq_release(((struct fault_cq *)cq)->inner);
}

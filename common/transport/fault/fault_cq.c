/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_cq.c - completions and events: those made here first, then the inner cq's. */
#include <errno.h>
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

static int watch(struct fault_cq *c, int fd)
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
	rc = watch(c, c->timer_fd);
	return rc || fd < 0 ? rc : watch(c, fd);
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
			fault_reject(e->ev.req, NULL, 0);
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

void fault_ready(struct fault_cq *cq, const struct tp_wc *wc)
{
	struct fault_wc *w = malloc(sizeof(*w));

	if (!w)
		abort(); /* a test tool without memory cannot continue */
	w->wc = *wc;
	TAILQ_INSERT_TAIL(&cq->ready, w, link);
}

void fault_event(struct fault_cq *cq, const struct tp_event *ev, uint64_t due)
{
	struct fault_ev *e = malloc(sizeof(*e));

	if (!e)
		abort();
	e->ev = *ev;
	e->due = due;
	TAILQ_INSERT_TAIL(&cq->events, e, link);
}

void fault_stall(struct fault_cq *cq, uint32_t ms)
{
	cq->stalled = clock_after_ms(ms);
}

bool fault_stalled(struct fault_cq *cq)
{
	if (cq->stalled && clock_now() >= cq->stalled)
		cq->stalled = 0;
	return cq->stalled;
}

static bool take_ready(struct fault_cq *cq, struct tp_wc *wc)
{
	struct fault_wc *w = TAILQ_FIRST(&cq->ready);

	if (!w)
		return false;
	*wc = w->wc;
	TAILQ_REMOVE(&cq->ready, w, link);
	free(w);
	return true;
}

int fault_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	int got = 0;

	fault_run_due(c);
	/* Polls one at a time: a rule may close the inner ep of the next one. */
	while (got < n && !fault_stalled(c)) {
		if (take_ready(c, &wc[got]))
			got++;
		else if (tp_cq_poll(c->inner, &wc[got], 1) == 0)
			break;
		else if (fault_complete(&wc[got]))
			got++;
	}
	return got;
}

static bool take_event(struct fault_cq *cq, struct tp_event *ev)
{
	uint64_t now = clock_now();
	struct fault_ev *e;

	TAILQ_FOREACH(e, &cq->events, link) {
		if (e->due > now)
			continue;
		*ev = e->ev;
		TAILQ_REMOVE(&cq->events, e, link);
		free(e);
		return true;
	}
	return false;
}

/* Turns an inner event into ours. False: not to be reported now. */
static bool translate(struct fault_cq *c, struct tp_event *ev)
{
	struct fault_ep *ep;

	if (ev->type == TP_EV_CONNECT_REQUEST)
		return fault_request(c, ev);
	ep = tp_ep_context(ev->ep);
	ev->ep = &ep->ep;
	if (ep->gone_at)
		return false;
	ep->up = ev->type == TP_EV_ESTABLISHED;
	if (ev->type == TP_EV_DISCONNECTED && ep->held_until) {
		fault_break(ep, -ECANCELED, ev->status);
		return false;
	}
	return true;
}

int fault_cq_event(struct tp_cq *cq, struct tp_event *ev)
{
	struct fault_cq *c = (struct fault_cq *)cq;

	while (!fault_stalled(c)) {
		if (take_event(c, ev))
			return 1;
		if (tp_cq_event(c->inner, ev) == 0)
			return 0;
		if (translate(c, ev))
			return 1;
	}
	return 0;
}

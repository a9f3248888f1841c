/* SPDX-License-Identifier: BSD-2-Clause */
/* local_cq.c - the progress context: making, polling, the epoll set. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "local.h"

#define LOOK_EVERY 32u /* polls, while something is hot */
#define HOT_MANY 16u /* endpoints; more than that, and idle ones cool down */
#define IDLE_POLLS 1000u

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, cq);
}

int local_cq_add(struct local_cq *cq, int fd, struct local_src *src,
		 uint32_t events)
{
	struct epoll_event ev = { events | EPOLLET, { .ptr = src } };

	return epoll_ctl(cq->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Explicit: a close() alone leaves it in the set if a child of fork() has it. */
void local_cq_del(struct local_cq *cq, int fd, struct local_src *src)
{
	int i;

	epoll_ctl(cq->epfd, EPOLL_CTL_DEL, fd, NULL);
	for (i = 0; i < cq->nsaved; i++) {
		if (cq->saved[i].data.ptr == src)
			cq->saved[i].data.ptr = NULL;
	}
}

/* The edge has done its work by ending the sleep. */
static void woken_up(struct local_src *src, uint32_t events)
{
}

static int wake_open(struct local_cq *cq)
{
	int rc;

	cq->wake_src.ready = woken_up;
	cq->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (cq->wakefd < 0)
		return -errno;
	rc = local_cq_add(cq, cq->wakefd, &cq->wake_src, EPOLLIN);
	if (rc)
		close(cq->wakefd);
	return rc;
}

static int cq_fds_open(struct local_cq *cq)
{
	int rc;

	cq->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->epfd < 0)
		return -errno;
	rc = wake_open(cq);
	if (rc)
		goto close_epfd;
	rc = local_timers_open(cq);
	if (rc)
		goto close_wakefd;
	return 0;
close_wakefd:
	close(cq->wakefd);
close_epfd:
	close(cq->epfd);
	return rc;
}

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct local_cq *cq = calloc(1, sizeof(*cq));
	int rc;

	if (!cq)
		return -ENOMEM;
	cq->cq.dev = dev;
	cq->room = depth;
	TAILQ_INIT(&cq->open);
	TAILQ_INIT(&cq->hot);
	TAILQ_INIT(&cq->done);
	TAILQ_INIT(&cq->events);
	TAILQ_INIT(&cq->listeners);
	rc = cq_fds_open(cq);
	if (rc) {
		log_error(dev->log,
			  "local: a completion queue needs three descriptors "
			  "(error %d): raise the open files limit",
			  -rc);
		free(cq);
		return rc;
	}
	*out = &cq->cq;
	return 0;
}

void local_cq_close(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
	free(cq);
}

/*
 * Not a change to the epoll set or to shared memory: they are the parent's,
 * too.  The table's descriptor is the device's, which a child cannot use
 * either.
 */
void local_cq_abandon(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);
	struct local_mrs *mrs = &local_dev(base->dev)->mrs;
	struct local_ep *ep;

	TAILQ_FOREACH(ep, &cq->open, open_link)
		close(ep->fd);
	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
	if (mrs->fd >= 0)
		close(mrs->fd);
	mrs->fd = -1;
}

void local_cq_look(struct local_cq *cq, int timeout_ms)
{
	int n = epoll_wait(cq->epfd, cq->saved, LOCAL_EVENTS, timeout_ms);

	cq->nsaved = n > 0 ? n : 0;
	cq->polls = 0;
}

static void edges(struct local_cq *cq)
{
	int i;

	for (i = 0; i < cq->nsaved; i++) {
		struct local_src *src = cq->saved[i].data.ptr;

		if (src)
			src->ready(src, cq->saved[i].events);
	}
	cq->nsaved = 0;
}

static void accept_more(struct local_cq *cq)
{
	struct local_listener *l, *next;

	for (l = TAILQ_FIRST(&cq->listeners); l; l = next) {
		next = TAILQ_NEXT(l, more_link);
		local_listener_more(l);
	}
}

static void turn_or_cool(struct local_cq *cq, struct local_ep *ep)
{
	if (local_ep_runnable(ep)) {
		ep->idle = 0;
		local_ep_turn(ep);
	} else if (cq->nhot > HOT_MANY && ++ep->idle > IDLE_POLLS) {
		local_ep_cool(ep);
	}
}

/* One turn each.  A turn may end its own ep and no other. */
static void turns(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		turn_or_cool(cq, ep);
	}
}

static int harvest(struct local_cq *cq, struct tp_wc *wc, int n)
{
	struct local_ep *ep;
	int total = 0;

	while (total < n && (ep = TAILQ_FIRST(&cq->done))) {
		total += local_harvest(ep, wc + total, n - total);
		TAILQ_REMOVE(&cq->done, ep, done_link);
		ep->is_done = false;
		local_ep_done(ep);
	}
	return total;
}

int local_cq_poll(struct tp_cq *base, struct tp_wc *wc, int n)
{
	struct local_cq *cq = to_cq(base);

	if (atomic_load_explicit(&cq->asleep, memory_order_relaxed)) {
		atomic_store(&cq->asleep, false);
		cq->polls = LOOK_EVERY;
	}
	if (cq->nsaved == 0 && (cq->nhot == 0 || ++cq->polls > LOOK_EVERY))
		local_cq_look(cq, 0);
	edges(cq);
	if (!TAILQ_EMPTY(&cq->listeners))
		accept_more(cq);
	turns(cq);
	return harvest(cq, wc, n);
}

void local_cq_flush(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		if (ep->sq.next != ep->sq.tail && !ep->sq.stuck)
			local_ep_turn(ep);
	}
}

bool local_cq_has_work(struct local_cq *cq)
{
	struct local_ep *ep;

	if (cq->nsaved || !TAILQ_EMPTY(&cq->done) ||
	    !TAILQ_EMPTY(&cq->events) || !TAILQ_EMPTY(&cq->listeners))
		return true;
	TAILQ_FOREACH(ep, &cq->hot, hot_link)
		if (local_ep_runnable(ep))
			return true;
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_cq.c - the progress context: poll, sleep, wake, completions, events. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tcp.h"

#define LAZY_POLLS 2 /* poll, answer, poll: then a wait follows anyway */

static struct tcp_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct tcp_cq, cq);
}

int tcp_cq_add(struct tcp_cq *cq, int fd, struct tcp_src *src, uint32_t events)
{
	struct epoll_event ev = { events | EPOLLET, { .ptr = src } };

	return epoll_ctl(cq->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

void tcp_cq_mod(struct tcp_cq *cq, int fd, struct tcp_src *src, uint32_t events)
{
	struct epoll_event ev = { events | EPOLLET, { .ptr = src } };

	epoll_ctl(cq->epfd, EPOLL_CTL_MOD, fd, &ev);
}

/* Explicit: a close() alone leaves it in the set if a child of fork() has it. */
void tcp_cq_del(struct tcp_cq *cq, int fd, struct tcp_src *src)
{
	int i;

	epoll_ctl(cq->epfd, EPOLL_CTL_DEL, fd, NULL);
	for (i = 0; i < cq->nsaved; i++) {
		if (cq->saved[i].data.ptr == src)
			cq->saved[i].data.ptr = NULL;
	}
}

/* The edge has done its work by ending the sleep. */
static void woken_up(struct tcp_src *src, uint32_t events)
{
}

static int wake_open(struct tcp_cq *cq)
{
	int rc;

	cq->wake_src.ready = woken_up;
	cq->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (cq->wakefd < 0)
		return -errno;
	rc = tcp_cq_add(cq, cq->wakefd, &cq->wake_src, EPOLLIN);
	if (rc)
		close(cq->wakefd);
	return rc;
}

static int cq_fds_open(struct tcp_cq *cq)
{
	int rc;

	cq->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->epfd < 0)
		return -errno;
	rc = wake_open(cq);
	if (rc)
		goto close_epfd;
	rc = tcp_timers_open(cq);
	if (rc)
		goto close_wakefd;
	return 0;
close_wakefd:
	close(cq->wakefd);
close_epfd:
	close(cq->epfd);
	return rc;
}

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct tcp_cq *cq = calloc(1, sizeof(*cq));
	int rc;

	if (!cq)
		return -ENOMEM;
	cq->cq.dev = dev;
	cq->room = depth;
	TAILQ_INIT(&cq->dirty);
	TAILQ_INIT(&cq->ready);
	TAILQ_INIT(&cq->done);
	TAILQ_INIT(&cq->events);
	TAILQ_INIT(&cq->listeners);
	STAILQ_INIT(&cq->spare);
	tcp_pulse_init(cq);
	rc = cq_fds_open(cq);
	if (rc) {
		log_error(dev->log,
			  "tcp: a completion queue needs three descriptors "
			  "(error %d): raise the open files limit",
			  -rc);
		free(cq);
		return rc;
	}
	*out = &cq->cq;
	return 0;
}

static void spare_free(struct tcp_cq *cq)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&cq->spare))) {
		STAILQ_REMOVE_HEAD(&cq->spare, link);
		free(tx);
	}
}

void tcp_cq_close(struct tp_cq *base)
{
	struct tcp_cq *cq = to_cq(base);

	tcp_timers_close(cq);
	close(cq->wakefd);
	close(cq->epfd);
	spare_free(cq);
	free(cq);
}

/* Not a change to the epoll set: it is the parent's, too. */
void tcp_cq_abandon(struct tp_cq *base)
{
	struct tcp_dev *dev = container_of(base->dev, struct tcp_dev, dev);
	struct tcp_cq *cq = to_cq(base);
	struct tcp_ep *ep;

	if (dev->zero_fd >= 0)
		close(dev->zero_fd);
	dev->zero_fd = -1;
	TAILQ_FOREACH(ep, &cq->open, open_link)
		close(ep->fd);
	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
}

static void look(struct tcp_cq *cq, int timeout_ms)
{
	int n = epoll_wait(cq->epfd, cq->saved, TCP_EVENTS, timeout_ms);

	cq->nsaved = n > 0 ? n : 0;
}

static void edges(struct tcp_cq *cq)
{
	int i;

	for (i = 0; i < cq->nsaved; i++) {
		struct tcp_src *src = cq->saved[i].data.ptr;

		if (src)
			src->ready(src, cq->saved[i].events);
	}
	cq->nsaved = 0;
}

/* One turn each: what comes back to the end of the list waits. */
static void flush_dirty(struct tcp_cq *cq)
{
	struct tcp_ep *last = TAILQ_LAST(&cq->dirty, tcp_eps), *ep;

	if (!last)
		return;
	do {
		ep = TAILQ_FIRST(&cq->dirty);
		TAILQ_REMOVE(&cq->dirty, ep, dirty_link);
		ep->dirty = false;
		tcp_flush(ep);
	} while (ep != last);
}

static void recv_ready(struct tcp_cq *cq)
{
	struct tcp_ep *last = TAILQ_LAST(&cq->ready, tcp_eps), *ep;

	if (!last)
		return;
	do {
		ep = TAILQ_FIRST(&cq->ready);
		TAILQ_REMOVE(&cq->ready, ep, ready_link);
		ep->ready = false;
		tcp_recv(ep);
	} while (ep != last);
}

static void accept_more(struct tcp_cq *cq)
{
	struct tcp_listener *l, *next;

	for (l = TAILQ_FIRST(&cq->listeners); l; l = next) {
		next = TAILQ_NEXT(l, more_link);
		tcp_listener_more(l);
	}
}

static int harvest(struct tcp_cq *cq, struct tp_wc *wc, int n)
{
	struct tcp_ep *ep;
	int total = 0;

	while (total < n && (ep = TAILQ_FIRST(&cq->done))) {
		total += tcp_harvest(ep, wc + total, n - total);
		TAILQ_REMOVE(&cq->done, ep, done_link);
		ep->done = false;
		tcp_ep_done(ep);
	}
	return total;
}

int tcp_cq_poll(struct tp_cq *base, struct tp_wc *wc, int n)
{
	struct tcp_cq *cq = to_cq(base);

	if (atomic_load_explicit(&cq->asleep, memory_order_relaxed))
		atomic_store(&cq->asleep, false);
	flush_dirty(cq);
	if (cq->nsaved == 0) {
		if (cq->lazy)
			cq->lazy--;
		else
			look(cq, 0);
	}
	edges(cq);
	accept_more(cq);
	recv_ready(cq);
	flush_dirty(cq);
	return harvest(cq, wc, n);
}

static bool has_work(const struct tcp_cq *cq)
{
	return cq->nsaved || !TAILQ_EMPTY(&cq->done) ||
	       !TAILQ_EMPTY(&cq->events) || !TAILQ_EMPTY(&cq->ready) ||
	       !TAILQ_EMPTY(&cq->dirty) || !TAILQ_EMPTY(&cq->listeners);
}

/*
 * A waker sets woken, then looks at asleep; a sleeper sets asleep, then looks
 * at woken: one of the two sees the other.
 */
int tcp_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct tcp_cq *cq = to_cq(base);
	bool woken;

	flush_dirty(cq);
	if (has_work(cq))
		return 0;
	atomic_store(&cq->asleep, true);
	woken = atomic_load(&cq->woken);
	if (!woken) {
		errno = 0;
		look(cq, clock_left_ms(deadline));
		woken = errno == EINTR;
	}
	atomic_store_explicit(&cq->asleep, false, memory_order_relaxed);
	woken |= atomic_exchange(&cq->woken, false);
	if (!cq->nsaved)
		return woken ? 0 : -ETIMEDOUT;
	cq->lazy = LAZY_POLLS;
	return 0;
}

void tcp_cq_wake(struct tp_cq *base)
{
	struct tcp_cq *cq = to_cq(base);
	const uint64_t one = 1;
	int saved = errno;

	if (!atomic_exchange(&cq->woken, true) && atomic_load(&cq->asleep) &&
	    write(cq->wakefd, &one, sizeof(one)) < 0)
		errno = saved;
}

int tcp_cq_fd(struct tp_cq *base)
{
	return to_cq(base)->epfd;
}

int tcp_cq_arm(struct tp_cq *base)
{
	struct tcp_cq *cq = to_cq(base);

	flush_dirty(cq);
	cq->lazy = 0;
	if (has_work(cq))
		return 1;
	atomic_store(&cq->asleep, true);
	if (!atomic_exchange(&cq->woken, false))
		return 0;
	atomic_store(&cq->asleep, false);
	return 1;
}

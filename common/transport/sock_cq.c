/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_cq.c - the epoll set of a progress context: fetching events, sleeping, waking. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/transport/sock.h"

static struct sock_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct sock_cq, cq);
}

int sock_cq_add(struct sock_cq *cq, int fd, struct sock_src *src,
		uint32_t events)
{
	struct epoll_event ev = { events | EPOLLET, { .ptr = src } };

	return epoll_ctl(cq->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

void sock_cq_mod(struct sock_cq *cq, int fd, struct sock_src *src,
		 uint32_t events)
{
	struct epoll_event ev = { events | EPOLLET, { .ptr = src } };

	epoll_ctl(cq->epfd, EPOLL_CTL_MOD, fd, &ev);
}

/* close() alone would leave fd in the set if a forked child also has it. */
void sock_cq_del(struct sock_cq *cq, int fd, struct sock_src *src)
{
	int i;

	epoll_ctl(cq->epfd, EPOLL_CTL_DEL, fd, NULL);
	for (i = 0; i < cq->nsaved; i++) {
		if (cq->saved[i].data.ptr == src)
			cq->saved[i].data.ptr = NULL;
	}
}

/* Nothing to do: the event already ended the sleep. */
static void woken_up(struct sock_src *src, uint32_t events)
{
}

static int wake_open(struct sock_cq *cq)
{
	int rc;

	cq->wake_src.ready = woken_up;
	cq->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (cq->wakefd < 0)
		return -errno;
	rc = sock_cq_add(cq, cq->wakefd, &cq->wake_src, EPOLLIN);
	if (rc)
		close(cq->wakefd);
	return rc;
}

static int fds_open(struct sock_cq *cq)
{
	int rc;

	cq->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->epfd < 0)
		return -errno;
	rc = wake_open(cq);
	if (rc)
		goto close_epfd;
	rc = sock_timers_open(cq);
	if (!rc)
		return 0;
	close(cq->wakefd);
close_epfd:
	close(cq->epfd);
	return rc;
}

int sock_cq_new(struct tp_dev *dev, unsigned int depth, size_t size,
		struct sock_cq **out)
{
	struct sock_cq *cq = calloc(1, size);
	int rc;

	if (!cq)
		return -ENOMEM;
	rc = fds_open(cq);
	if (rc) {
		log_error(dev->log,
			  "%s: a completion queue needs three descriptors "
			  "(error %d): raise the open files limit",
			  dev->ops->name, -rc);
		free(cq);
		return rc;
	}
	cq->cq.dev = dev;
	cq->room = depth;
	TAILQ_INIT(&cq->events);
	TAILQ_INIT(&cq->listeners);
	*out = cq;
	return 0;
}

void sock_cq_fini(struct sock_cq *cq)
{
	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
}

static void lost(struct sock_cq *cq)
{
	const struct tp_dev *dev = cq->cq.dev;

	if (!cq->lost)
		log_error(dev->log,
			  "%s: the program has closed descriptors that are not "
			  "its own: all connections are lost; make it close "
			  "only what it opened (does it call close_range()?)",
			  dev->ops->name);
	cq->lost = true;
}

void sock_cq_look(struct sock_cq *cq, int timeout_ms)
{
	int n = epoll_wait(cq->epfd, cq->saved, SOCK_EVENTS, timeout_ms);

	if (n < 0 && errno != EINTR)
		lost(cq);
	cq->nsaved = n > 0 ? n : 0;
}

void sock_cq_handle(struct sock_cq *cq)
{
	struct sock_listener *l, *next;
	int i;

	for (i = 0; i < cq->nsaved; i++) {
		struct sock_src *src = cq->saved[i].data.ptr;

		if (src)
			src->ready(src, cq->saved[i].events);
	}
	cq->nsaved = 0;
	for (l = TAILQ_FIRST(&cq->listeners); l; l = next) {
		next = TAILQ_NEXT(l, more_link);
		sock_listener_more(l);
	}
}

/*
 * A waker sets woken, then reads asleep. A sleeper sets asleep, then reads woken. At least one of
 * them sees the other's store.
 */
int sock_cq_sleep(struct sock_cq *cq, uint64_t deadline)
{
	bool woken;

	atomic_store(&cq->asleep, true);
	woken = atomic_load(&cq->woken);
	if (!woken) {
		errno = 0;
		sock_cq_look(cq, clock_left_ms(deadline));
		woken = errno == EINTR;
	}
	atomic_store_explicit(&cq->asleep, false, memory_order_relaxed);
	woken |= atomic_exchange(&cq->woken, false);
	return cq->nsaved || woken ? 0 : -ETIMEDOUT;
}

bool sock_cq_may_sleep(struct sock_cq *cq)
{
	atomic_store(&cq->asleep, true);
	if (!atomic_exchange(&cq->woken, false))
		return true;
	atomic_store(&cq->asleep, false);
	return false;
}

int sock_cq_event(struct tp_cq *base, struct tp_event *out)
{
	struct tp_pending *ev = tp_pending_take(&to_cq(base)->events, out);

	if (ev && ev->req)
		sock_req_taken(container_of(ev, struct sock_req, ev));
	return ev != NULL;
}

void sock_cq_wake(struct tp_cq *base)
{
	struct sock_cq *cq = to_cq(base);
	const uint64_t one = 1;
	int saved = errno;

	if (!atomic_exchange(&cq->woken, true) && atomic_load(&cq->asleep) &&
	    write(cq->wakefd, &one, sizeof(one)) < 0)
		errno = saved;
}

int sock_cq_fd(struct tp_cq *base)
{
	return to_cq(base)->epfd;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_cq.c - the epoll set of a progress context: fetching events, sleeping, waking. A timerfd in
 * the set makes deadlines fire in an application's own event loop too.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/transport/sock.h"
#include "common/util/clock.h"

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

static int timers_open(struct sock_cq *cq)
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
	rc = timers_open(cq);
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

static void connections_lost(struct sock_cq *cq)
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

void sock_cq_fetch(struct sock_cq *cq, int timeout_ms)
{
	int n = epoll_wait(cq->epfd, cq->saved, SOCK_EVENTS, timeout_ms);

	if (n < 0 && errno != EINTR)
		connections_lost(cq);
	cq->nsaved = n > 0 ? n : 0;
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
		sock_cq_fetch(cq, clock_left_ms(deadline));
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_sleep.c - the epoll set of a cq, which is also its descriptor: completions while armed,
 * connections, asynchronous events, deadlines, wake-ups.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/transport/verbs/verbs.h"

enum source { SRC_DONE, SRC_CM, SRC_ASYNC, SRC_TIMER, SRC_WAKE, SOURCES };

static int source_add(struct vb_cq *cq, int fd, enum source source)
{
	struct epoll_event ev = { EPOLLIN, { .u32 = source } };

	return epoll_ctl(cq->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int sources_add(struct vb_cq *cq)
{
	int rc = source_add(cq, cq->chan->fd, SRC_DONE);

	if (!rc)
		rc = source_add(cq, cq->cm->fd, SRC_CM);
	if (!rc)
		rc = source_add(cq, vb_dev(cq->cq.dev)->ctx->async_fd,
				SRC_ASYNC);
	if (!rc)
		rc = source_add(cq, cq->timerfd, SRC_TIMER);
	if (!rc)
		rc = source_add(cq, cq->wakefd, SRC_WAKE);
	return rc;
}

int vb_sources_open(struct vb_cq *cq)
{
	int rc;

	cq->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->epfd < 0)
		return -errno;
	cq->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (cq->wakefd < 0) {
		rc = -errno;
		goto close_epfd;
	}
	cq->timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_NONBLOCK | TFD_CLOEXEC);
	if (cq->timerfd < 0) {
		rc = -errno;
		goto close_wakefd;
	}
	rc = sources_add(cq);
	if (!rc)
		return 0;
	close(cq->timerfd);
close_wakefd:
	close(cq->wakefd);
close_epfd:
	close(cq->epfd);
	return rc;
}

void vb_sources_close(struct vb_cq *cq)
{
	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
}

static bool drained(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == sizeof(n);
}

/* Takes the notification of the armed queue. */
static void done_notice(struct vb_cq *cq)
{
	struct ibv_cq *ib;
	void *context;

	while (ibv_get_cq_event(cq->chan, &ib, &context) == 0) {
		ibv_ack_cq_events(ib, 1);
		cq->armed = false;
	}
}

static void source_ready(struct vb_cq *cq, enum source source)
{
	switch (source) {
	case SRC_DONE:
		done_notice(cq);
		break;
	case SRC_CM:
		vb_cm_events(cq);
		break;
	case SRC_ASYNC:
		vb_async(cq);
		break;
	case SRC_TIMER:
		drained(cq->timerfd);
		vb_timers_run(cq);
		break;
	case SRC_WAKE:
	case SOURCES:
		break;
	}
}

/* The device was removed: its descriptors stay readable forever and would keep the thread awake. */
static void source_dead(struct vb_cq *cq, enum source source)
{
	int fd = source == SRC_DONE ? cq->chan->fd
				    : vb_dev(cq->cq.dev)->ctx->async_fd;

	epoll_ctl(cq->epfd, EPOLL_CTL_DEL, fd, NULL);
	atomic_store(&cq->trouble, -ENODEV);
	atomic_store(&cq->poked, true);
}

static bool is_dead(const struct epoll_event *ev)
{
	return (ev->data.u32 == SRC_DONE || ev->data.u32 == SRC_ASYNC) &&
	       (ev->events & (EPOLLERR | EPOLLHUP));
}

bool vb_look(struct vb_cq *cq, int timeout_ms)
{
	struct epoll_event ev[SOURCES];
	int n = epoll_wait(cq->epfd, ev, SOURCES, timeout_ms), i;
	bool woken = false;

	for (i = 0; i < n; i++) {
		source_ready(cq, (enum source)ev[i].data.u32);
		if (is_dead(&ev[i]))
			source_dead(cq, (enum source)ev[i].data.u32);
		woken |= ev[i].data.u32 == SRC_WAKE;
	}
	if (atomic_exchange(&cq->poked, false))
		vb_poked(cq);
	return woken;
}

/* Requests a notification of the next completion; completions already there go to held. */
static void arm(struct vb_cq *cq)
{
	if (!cq->armed && ibv_req_notify_cq(cq->ib, 0) == 0)
		cq->armed = true;
	vb_hold(cq);
}

static bool has_work(const struct vb_cq *cq)
{
	return cq->held_at < cq->held_n || !TAILQ_EMPTY(&cq->events) ||
	       !TAILQ_EMPTY(&cq->flushing) || !TAILQ_EMPTY(&cq->leaving);
}

/* Arms twice: a notification given while we polled would end the sleep early. */
int vb_cq_arm(struct tp_cq *base)
{
	struct vb_cq *cq = vb_cq(base);

	if (has_work(cq))
		return 1;
	arm(cq);
	if (vb_look(cq, 0) && drained(cq->wakefd))
		return 1;
	arm(cq);
	return has_work(cq);
}

int vb_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct vb_cq *cq = vb_cq(base);
	int ms;

	if (has_work(cq))
		return 0;
	arm(cq);
	ms = has_work(cq) ? 0 : clock_left_ms(deadline);
	if (vb_look(cq, ms) && drained(cq->wakefd))
		return 0;
	if (has_work(cq) || clock_now() < deadline)
		return 0;
	return -ETIMEDOUT;
}

void vb_cq_wake(struct tp_cq *base)
{
	uint64_t one = 1;
	ssize_t n = write(vb_cq(base)->wakefd, &one, sizeof(one));

	(void)n; /* the counter is full: wakefd is readable already */
}

int vb_cq_fd(struct tp_cq *base)
{
	return vb_cq(base)->epfd;
}

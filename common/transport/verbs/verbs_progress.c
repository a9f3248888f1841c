/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_progress.c - drives a cq: polls its completions, and handles what its epoll set reports:
 * connections, asynchronous events, deadlines, heartbeats, wake-ups. The epoll set is also the cq's
 * descriptor.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/transport/verbs/verbs.h"
#include "common/util/clock.h"

#define LOOK_NS 50000u /* interval between checks of the epoll set */
#define BUSY_POLLS 64u

static void deadline_passed(struct vb_ep *ep)
{
	ep->deadline = 0;
	if (ep->state == VB_BROKEN) {
		/* The device does not return what was posted: destroy the queue pair. */
		vb_qp_destroy(ep);
		vb_ep_check_flushed(ep);
	} else {
		vb_ep_break(ep, -ETIMEDOUT);
	}
}

static void heartbeat_if_idle(struct vb_ep *ep, uint64_t now)
{
	if (ep->hw_posted == ep->beat_mark && ep->hw_done == ep->hw_posted)
		vb_send_heartbeat(ep);
	ep->beat_mark = ep->hw_posted;
	ep->beat_at = now +
		      vb_dev(ep->ep.dev)->dead_peer_ms * CLOCK_NS_PER_MS / 3;
}

static void ep_timers(struct vb_ep *ep, uint64_t now, uint64_t *next)
{
	if (ep->deadline && ep->deadline <= now)
		deadline_passed(ep);
	if (ep->state == VB_OPEN && ep->beat_at <= now)
		heartbeat_if_idle(ep, now);
	if (ep->deadline && ep->deadline < *next)
		*next = ep->deadline;
	if (ep->state == VB_OPEN && ep->beat_at < *next)
		*next = ep->beat_at;
}

static void run_timers(struct vb_cq *cq)
{
	uint64_t now = clock_now(), next = CLOCK_NEVER;
	struct vb_remnant *rest, *after;
	struct vb_ep *ep;

	for (rest = TAILQ_FIRST(&cq->remnants); rest; rest = after) {
		after = TAILQ_NEXT(rest, link);
		if (rest->deadline <= now)
			vb_remnant_end(rest);
		else if (rest->deadline < next)
			next = rest->deadline;
	}
	TAILQ_FOREACH(ep, &cq->eps, link)
		ep_timers(ep, now, &next);
	vb_cq_reset_timer(cq, next);
}

/* Resets a timerfd or an eventfd.  True: it had been set. */
static bool drain_counter(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == sizeof(n);
}

/* Takes the notifications of the device.  After one, it sends no more until it is armed again. */
static void take_notices(struct vb_cq *cq)
{
	struct ibv_cq *ib;
	void *context;

	while (ibv_get_cq_event(cq->chan, &ib, &context) == 0) {
		ibv_ack_cq_events(ib, 1);
		cq->armed = false;
	}
}

static void source_ready(struct vb_cq *cq, enum vb_source source)
{
	switch (source) {
	case VB_SRC_DONE:
		take_notices(cq);
		break;
	case VB_SRC_CM:
		vb_cm_events(cq);
		break;
	case VB_SRC_ASYNC:
		vb_async_events(cq);
		break;
	case VB_SRC_TIMER:
		drain_counter(cq->timerfd);
		run_timers(cq);
		break;
	case VB_SRC_WAKE:
	case VB_SOURCES:
		break;
	}
}

/* The device was removed: its descriptors stay readable forever and would keep the thread awake. */
static void source_dead(struct vb_cq *cq, enum vb_source source)
{
	int fd = source == VB_SRC_DONE ? cq->chan->fd
				       : vb_dev(cq->cq.dev)->ctx->async_fd;

	epoll_ctl(cq->epfd, EPOLL_CTL_DEL, fd, NULL);
	atomic_store(&cq->trouble, -ENODEV);
	atomic_store(&cq->poked, true);
}

static bool is_dead(const struct epoll_event *ev)
{
	return (ev->data.u32 == VB_SRC_DONE || ev->data.u32 == VB_SRC_ASYNC) &&
	       (ev->events & (EPOLLERR | EPOLLHUP));
}

/*
 * Waits up to timeout_ms for events of the epoll set, and handles them.  True: vb_cq_wake() was
 * called, and wakefd is still readable.
 */
static bool handle_events(struct vb_cq *cq, int timeout_ms)
{
	struct epoll_event ev[VB_SOURCES];
	int n = epoll_wait(cq->epfd, ev, VB_SOURCES, timeout_ms), i;
	bool woken = false;

	for (i = 0; i < n; i++) {
		source_ready(cq, (enum vb_source)ev[i].data.u32);
		if (is_dead(&ev[i]))
			source_dead(cq, (enum vb_source)ev[i].data.u32);
		woken |= ev[i].data.u32 == VB_SRC_WAKE;
	}
	if (atomic_exchange(&cq->poked, false))
		vb_async_apply(cq);
	return woken;
}

/*
 * Whether to check the epoll set, which costs a system call: if the queue is idle (n is 0) or was
 * polled BUSY_POLLS times, and the last check is LOOK_NS ago.  n: completions of this poll.
 */
static bool look_is_due(struct vb_cq *cq, int n)
{
	uint64_t now;

	if (n && ++cq->busy < BUSY_POLLS)
		return false;
	cq->busy = 0;
	now = clock_now();
	if (now < cq->look_at)
		return false;
	cq->look_at = now + LOOK_NS;
	return true;
}

/*
 * Takes completions of the device first, then those of requests of broken endpoints.  Returns their
 * number.
 */
static int take_completions(struct vb_cq *cq, struct tp_wc *wc, int max)
{
	int n = vb_wc_take(cq, wc, max);

	return n < max ? n + vb_wc_take_flushed(cq, wc + n, max - n) : n;
}

int vb_cq_poll(struct tp_cq *base, struct tp_wc *wc, int max)
{
	struct vb_cq *cq = vb_cq(base);
	int n = take_completions(cq, wc, max);

	if (!look_is_due(cq, n))
		return n;
	handle_events(cq, 0);
	return n < max ? n + take_completions(cq, wc + n, max - n) : n;
}

/* Requests a notification of the next completion; completions already there go to fetched. */
static void request_notice(struct vb_cq *cq)
{
	if (!cq->armed && ibv_req_notify_cq(cq->ib, 0) == 0)
		cq->armed = true;
	vb_cq_fetch(cq);
}

static bool has_work(const struct vb_cq *cq)
{
	return cq->fetched_at < cq->fetched_n || !TAILQ_EMPTY(&cq->events) ||
	       !TAILQ_EMPTY(&cq->flushing) || !TAILQ_EMPTY(&cq->leaving);
}

/*
 * The queue may still be armed from an earlier call.  Then there may be a notification for a
 * completion that was polled meanwhile, which would end the sleep at once.  handle_events()
 * consumes such a notification, and the queue is armed again.
 */
int vb_cq_arm(struct tp_cq *base)
{
	struct vb_cq *cq = vb_cq(base);

	if (has_work(cq))
		return 1;
	request_notice(cq);
	if (handle_events(cq, 0) && drain_counter(cq->wakefd))
		return 1;
	request_notice(cq);
	return has_work(cq);
}

int vb_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct vb_cq *cq = vb_cq(base);
	int ms;

	if (has_work(cq))
		return 0;
	request_notice(cq);
	ms = has_work(cq) ? 0 : clock_left_ms(deadline);
	if (handle_events(cq, ms) && drain_counter(cq->wakefd))
		return 0;
	if (has_work(cq) || clock_now() < deadline)
		return 0;
	return -ETIMEDOUT;
}

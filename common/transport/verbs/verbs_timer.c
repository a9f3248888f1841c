/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_timer.c - deadlines of connecting and closing, and heartbeats. Each cq has one timerfd, set
 * to the earliest; without connections it is not set.
 */
#include <errno.h>
#include <sys/timerfd.h>

#include "common/util/clock.h"
#include "common/transport/verbs/verbs.h"

static void timerfd_follow(struct vb_cq *cq)
{
	uint64_t at = cq->timer_at == CLOCK_NEVER ? 0 : cq->timer_at ?: 1;
	struct itimerspec its = {
		.it_value = clock_timespec(at),
	};

	timerfd_settime(cq->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

void vb_timer(struct vb_cq *cq, uint64_t at)
{
	if (at >= cq->timer_at)
		return;
	cq->timer_at = at;
	timerfd_follow(cq);
}

static void deadline_passed(struct vb_ep *ep)
{
	ep->deadline = 0;
	if (ep->state == VB_BROKEN) {
		/* The device does not return what was posted: destroy the queue pair. */
		vb_qp_destroy(ep);
		vb_flush_check(ep);
	} else {
		vb_break(ep, -ETIMEDOUT);
	}
}

/* Sends a heartbeat only if nothing was posted since the last beat. */
static void beat(struct vb_ep *ep, uint64_t now)
{
	if (ep->hw_posted == ep->beat_mark && ep->hw_done == ep->hw_posted)
		vb_heartbeat(ep);
	ep->beat_mark = ep->hw_posted;
	ep->beat_at = now +
		      vb_dev(ep->ep.dev)->dead_peer_ms * CLOCK_NS_PER_MS / 3;
}

static void ep_timers(struct vb_ep *ep, uint64_t now, uint64_t *next)
{
	if (ep->deadline && ep->deadline <= now)
		deadline_passed(ep);
	if (ep->state == VB_OPEN && ep->beat_at <= now)
		beat(ep, now);
	if (ep->deadline && ep->deadline < *next)
		*next = ep->deadline;
	if (ep->state == VB_OPEN && ep->beat_at < *next)
		*next = ep->beat_at;
}

void vb_timers_run(struct vb_cq *cq)
{
	uint64_t now = clock_now(), next = CLOCK_NEVER;
	struct vb_bye *bye, *after;
	struct vb_ep *ep;

	for (bye = TAILQ_FIRST(&cq->byes); bye; bye = after) {
		after = TAILQ_NEXT(bye, link);
		if (bye->deadline <= now)
			vb_bye_end(bye);
		else if (bye->deadline < next)
			next = bye->deadline;
	}
	TAILQ_FOREACH(ep, &cq->eps, link)
		ep_timers(ep, now, &next);
	cq->timer_at = next;
	timerfd_follow(cq);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_progress.c - the loop: completions and events that were made here first, then those of the
 * inner cq; sleeping until the inner cq has work or something is due here.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "common/transport/fault/fault_priv.h"

static uint64_t earlier_time(uint64_t next, uint64_t due)
{
	return due && due < next ? due : next;
}

/* Executes what is due on ep now. Returns the time of the next. */
static uint64_t ep_due(struct fault_ep *ep, uint64_t now, uint64_t next)
{
	if (ep->connect.due && ep->connect.due <= now)
		fault_ep_connect_postponed(ep);
	if (ep->gone_at && ep->gone_at <= now)
		fault_ep_break(ep, -ETIMEDOUT, -ETIMEDOUT);
	if (ep->held_until && ep->held_until <= now)
		fault_post_held(ep);
	next = earlier_time(next, ep->connect.due);
	next = earlier_time(next, ep->gone_at);
	return earlier_time(next, ep->held_until);
}

/* Executes what is due now. Returns the time of the next (CLOCK_NEVER: nothing). */
static uint64_t run_due(struct fault_cq *cq)
{
	uint64_t now = clock_now(), next = CLOCK_NEVER;
	struct fault_ep *ep;
	struct fault_ev *e;

	if (fault_cq_is_stalled(cq))
		return cq->stalled;
	LIST_FOREACH(ep, &cq->eps, link)
		next = ep_due(ep, now, next);
	TAILQ_FOREACH(e, &cq->events, link)
		next = earlier_time(next, e->due ? e->due : 1);
	return TAILQ_EMPTY(&cq->ready) ? next : now;
}

/* Retires requests up to last, which completed with status. */
static void retire_sends(struct fault_ep *ep, struct fault_req *last,
			 int status)
{
	struct fault_req *req;
	bool end;

	do {
		req = TAILQ_FIRST(&ep->sends);
		end = req == last;
		if (req->spoil && !status)
			fault_req_spoil(req, req->spoil_at, fault_req_len(req));
		TAILQ_REMOVE(&ep->sends, req, link);
		ep->nsend--;
		fault_req_free(req);
	} while (!end);
}

/* Applies the rules to a receive. False: it is not to be reported now. */
static bool apply_recv_rule(struct fault_ep *ep, struct fault_req *req,
			    struct tp_wc *wc)
{
	struct fault_rule rule;

	if (wc->status || !fault_dev_hit(ep->ep.dev, FAULT_RECV, wc->byte_len,
					 ep->port, &rule))
		return true;
	switch (rule.action) {
	case FAULT_CORRUPT:
		if (wc->opcode == TP_RECV)
			fault_req_spoil(req, rule.at, wc->byte_len);
		return true;
	case FAULT_RESET:
		fault_ep_break(ep, -ECONNRESET, -ECONNRESET);
		return false;
	case FAULT_VANISH:
		fault_ep_vanish(ep, rule.ms);
		return false;
	default:
		fault_cq_stall(ep->cq, rule.ms);
		return true;
	}
}

static bool complete_recv(struct fault_ep *ep, struct fault_req *req,
			  struct tp_wc *wc)
{
	ep->up = !wc->status; /* a message implies ESTABLISHED */
	if (!apply_recv_rule(ep, req, wc))
		return false;
	TAILQ_REMOVE(&ep->recvs, req, link);
	ep->nrecv--;
	fault_req_free(req);
	if (!fault_cq_is_stalled(ep->cq))
		return true;
	fault_cq_add_completion(ep->cq, wc);
	return false;
}

/* Turns an inner completion into the user's. False: nothing to report. */
static bool complete_wc(struct tp_wc *wc)
{
	struct fault_ep *ep = tp_ep_context(wc->ep);
	struct fault_req *req = (struct fault_req *)(uintptr_t)wc->wr_id;

	if (ep->gone_at)
		return false;
	wc->ep = &ep->ep;
	wc->wr_id = req->wr_id;
	if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM)
		return complete_recv(ep, req, wc);
	wc->opcode = req->opcode;
	retire_sends(ep, req, wc->status);
	if (!wc->status)
		return true;
	ep->up = false;
	if (!ep->held_until)
		return true;
	/* Held requests were never posted, so the inner ep cannot flush them. */
	fault_cq_add_completion(ep->cq, wc);
	fault_ep_break(ep, -ECANCELED, wc->status);
	return false;
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

	run_due(c);
	/* takes one completion at a time, because a rule may close the inner ep of the next one */
	while (got < n && !fault_cq_is_stalled(c)) {
		if (take_ready(c, &wc[got]))
			got++;
		else if (tp_cq_poll(c->inner, &wc[got], 1) == 0)
			break;
		else if (complete_wc(&wc[got]))
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
static bool translate_event(struct fault_cq *c, struct tp_event *ev)
{
	struct fault_ep *ep;

	if (ev->type == TP_EV_CONNECT_REQUEST)
		return fault_listener_request(c, ev);
	ep = tp_ep_context(ev->ep);
	ev->ep = &ep->ep;
	if (ep->gone_at)
		return false;
	ep->up = ev->type == TP_EV_ESTABLISHED;
	if (ev->type == TP_EV_DISCONNECTED && ep->held_until) {
		fault_ep_break(ep, -ECANCELED, ev->status);
		return false;
	}
	return true;
}

int fault_cq_event(struct tp_cq *cq, struct tp_event *ev)
{
	struct fault_cq *c = (struct fault_cq *)cq;

	while (!fault_cq_is_stalled(c)) {
		if (take_event(c, ev))
			return 1;
		if (tp_cq_event(c->inner, ev) == 0)
			return 0;
		if (translate_event(c, ev))
			return 1;
	}
	return 0;
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
	uint64_t next = run_due(c);
	int rc;

	if (fault_cq_is_stalled(c))
		return wait_stalled(c, deadline);
	if (next > deadline)
		return tp_cq_wait(c->inner, deadline);
	/* also sends posted requests, even if next is now */
	rc = tp_cq_wait(c->inner, next);
	run_due(c);
	return rc == -ETIMEDOUT ? 0 : rc;
}

/* The timer fires at next; never if that is CLOCK_NEVER. */
static void set_timer(struct fault_cq *c, uint64_t next)
{
	struct itimerspec at = { 0 };

	if (next != CLOCK_NEVER)
		at.it_value = clock_timespec(next);
	timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int fault_cq_arm(struct tp_cq *cq)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	uint64_t next = run_due(c);

	set_timer(c, next);
	if (fault_cq_is_stalled(c))
		return 0;
	return tp_cq_arm(c->inner) || next <= clock_now();
}

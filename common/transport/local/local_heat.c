/* SPDX-License-Identifier: BSD-2-Clause */
/* local_heat.c - which endpoints are polled (hot), and bells for the others. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/local.h"

void local_ep_heat(struct local_ep *ep)
{
	if (ep->hot || ep->state != LOCAL_EP_UP)
		return;
	ep->hot = true;
	ep->idle = 0;
	TAILQ_INSERT_TAIL(&ep->cq->hot, ep, hot_link);
	ep->cq->nhot++;
	atomic_store(&ep->in.me->asleep, 0);
}

void local_ep_forget(struct local_ep *ep)
{
	if (!ep->hot)
		return;
	ep->hot = false;
	TAILQ_REMOVE(&ep->cq->hot, ep, hot_link);
	ep->cq->nhot--;
}

bool local_ep_cool(struct local_ep *ep)
{
	atomic_store(&ep->in.me->asleep, 1);
	if (local_ep_runnable(ep)) {
		atomic_store(&ep->in.me->asleep, 0);
		return false;
	}
	local_ep_forget(ep);
	return true;
}

static bool has_to_send(const struct local_ep *ep)
{
	return ep->sq.next != ep->sq.q.tail ||
	       ep->answer_head != ep->answer_tail;
}

/* The other servers of the caller's group sleep and have requests. */
static bool has_to_pass_on(const struct local_ep *ep)
{
	return ep->page && atomic_load(&ep->in.peer->relay);
}

static void pass_on(struct local_ep *ep)
{
	if (has_to_pass_on(ep) && atomic_exchange(&ep->in.peer->relay, 0))
		local_gong_strike(&ep->gong);
}

bool local_ep_patient(const struct local_ep *ep)
{
	return ep->joined && !ep->relies && !has_to_send(ep);
}

bool local_ep_runnable(struct local_ep *ep)
{
	const struct local_side *peer = ep->in.peer;

	if (ep->eof || atomic_load(&peer->ended) || has_to_pass_on(ep))
		return true;
	if (!ep->rq.paused && atomic_load(&peer->tail) != ep->in.head)
		return true;
	return has_to_send(ep) && (!ep->sq.stuck || local_out_moved(&ep->out));
}

/* Nothing can follow what was read: the connection has ended. */
static void over(struct local_ep *ep, bool said)
{
	const struct local_side *peer = ep->in.peer;
	int status = said ? atomic_load(&peer->status) : 0;
	uint32_t id = said ? atomic_load(&peer->cause) : 0;

	if (!said)
		log_info(ep->ep.dev->log, "%s: closed by its process' end",
			 ep->peer);
	else if (status)
		log_warn(ep->ep.dev->log,
			 "%s: the peer broke the connection (error %d)",
			 ep->peer, status);
	if (status > 0 || status < -4095)
		status = -ECONNRESET;
	local_ep_break(ep, status, id);
}

void local_ep_turn(struct local_ep *ep)
{
	/* read before the ring: if true, all that the peer sent is there */
	bool said = atomic_load(&ep->in.peer->ended);

	pass_on(ep);
	if (!local_rx(ep))
		return;
	if (said || ep->eof) {
		if (ep->rq.paused ||
		    atomic_load(&ep->in.peer->tail) == ep->in.head)
			over(ep, said);
		return;
	}
	local_tx(ep, true);
}

void local_ep_bell(struct local_ep *ep)
{
	if (!local_caller_owes(ep))
		local_ep_ring(ep);
}

/* The program closed the descriptor: the peer cannot be woken over this connection. */
static void bell_lost(struct local_ep *ep)
{
	ep->eof = true;
	local_ep_heat(ep);
}

/*
 * A byte on the socket costs a kernel buffer. But an acceptor must not write to an eventfd, where a
 * connector could make it block.
 */
static void wake(struct local_ep *ep)
{
	const uint64_t one = 1;

	if (ep->side == LOCAL_ACCEPTOR)
		send(ep->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (write(ep->bell, &one, sizeof(one)) == sizeof(one))
		return;
	else if (errno == EBADF)
		bell_lost(ep);
	else
		log_debug(ep->ep.dev->log, "%s: its bell is full", ep->peer);
}

void local_ep_ring(struct local_ep *ep)
{
	struct local_side *peer = ep->out.peer;
	uint32_t wants = atomic_load(&peer->asleep);

	if (wants)
		wants = atomic_exchange(&peer->asleep, 0);
	if (!wants)
		return;
	if (wants == LOCAL_COUNTED && ep->page &&
	    atomic_fetch_sub(&ep->page->missing, 1) != 1)
		return;
	wake(ep);
}

void local_ep_done(struct local_ep *ep)
{
	if (ep->is_done || (!ep->sq.q.report && ep->rq.head == ep->rq.done))
		return;
	ep->is_done = true;
	TAILQ_INSERT_TAIL(&ep->cq->done, ep, done_link);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* local_active.c - which endpoints are polled, and how a sleeping peer is woken. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/local.h"

void local_ep_activate(struct local_ep *ep)
{
	if (ep->active || ep->state != LOCAL_EP_UP)
		return;
	ep->active = true;
	ep->idle = 0;
	TAILQ_INSERT_TAIL(&ep->cq->active, ep, active_link);
	ep->cq->nactive++;
	atomic_store(&ep->in.me->asleep, 0);
}

void local_ep_deactivate(struct local_ep *ep)
{
	if (!ep->active)
		return;
	ep->active = false;
	TAILQ_REMOVE(&ep->cq->active, ep, active_link);
	ep->cq->nactive--;
}

bool local_ep_fall_asleep(struct local_ep *ep)
{
	atomic_store(&ep->in.me->asleep, 1);
	if (local_ep_has_work(ep)) {
		atomic_store(&ep->in.me->asleep, 0);
		return false;
	}
	local_ep_deactivate(ep);
	return true;
}

static bool has_to_send(const struct local_ep *ep)
{
	return ep->sq.next != ep->sq.q.tail ||
	       ep->answer_head != ep->answer_tail;
}

bool local_ep_answer_may_wait(const struct local_ep *ep)
{
	return ep->joined && !ep->peer_uses_ring && !has_to_send(ep);
}

bool local_ep_has_work(struct local_ep *ep)
{
	const struct local_side *peer = ep->in.peer;

	if (ep->eof || atomic_load(&peer->ended) ||
	    (ep->page && atomic_load(&peer->relay)))
		return true;
	if (!ep->rq.paused && atomic_load(&peer->tail) != ep->in.head)
		return true;
	return has_to_send(ep) && (!ep->sq.stuck || local_out_moved(&ep->out));
}

/* The program closed the descriptor: the peer cannot be woken over this connection. */
static void bell_lost(struct local_ep *ep)
{
	ep->eof = true;
	local_ep_activate(ep);
}

/*
 * A connector writes to the acceptor's eventfd, which is cheaper than a byte on the socket (it
 * needs a kernel buffer). But an acceptor must not write to an eventfd, because its connector could
 * make the write block.
 */
static void send_wakeup(struct local_ep *ep)
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

void local_ep_wake_peer(struct local_ep *ep)
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
	send_wakeup(ep);
}

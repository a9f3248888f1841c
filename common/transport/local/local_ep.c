/* SPDX-License-Identifier: BSD-2-Clause */
/* local_ep.c - endpoints: how they start and end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/local.h"

/* with 8 KiB: 10 us carried, 9 us fetched by the peer */
#define CARRY_MAX 4096u
#define BELLS_MAX 64u /* unread bytes; the socket holds some hundreds */

static struct local_ep *to_ep(const struct tp_ep *base)
{
	return container_of(base, struct local_ep, ep);
}

const char *local_ep_peer(const struct tp_ep *base)
{
	return to_ep(base)->peer;
}

int local_ep_identity(const struct tp_ep *base, struct tp_identity *id)
{
	const struct local_ep *ep = to_ep(base);

	if (ep->state < LOCAL_EP_HELLO)
		return -ENOTCONN;
	*id = ep->id;
	return 0;
}

/* A peer of another user does not fetch data itself: see local_reach.c. */
uint32_t local_ep_carry_max(const struct tp_ep *base)
{
	const struct local_ep *ep = to_ep(base);

	return ep->guest && ep->own ? CARRY_MAX : UINT32_MAX;
}

void local_ep_join(struct tp_ep *base)
{
	local_caller_join(to_ep(base));
}

/* Each bell raises an edge, whether it is read or not; so many are read at a time. */
static void heard_bell(struct local_ep *ep)
{
	if (ep->side == LOCAL_ACCEPTOR) {
		local_ep_refuse(ep, -EPROTO, 0, "data after its hello");
		return;
	}
	if (++ep->bells < BELLS_MAX)
		return;
	ep->bells = 0;
	local_pass_read(ep);
}

static void ep_edge(struct sock_src *src, uint32_t events)
{
	struct local_ep *ep = container_of(src, struct local_ep, src);

	if (ep->state == LOCAL_EP_HELLO) {
		local_connect_answer(ep);
		if (ep->state != LOCAL_EP_UP)
			return;
	}
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		ep->eof = true;
	else
		heard_bell(ep);
	local_ep_heat(ep);
}

int local_ep_attach(struct local_ep *ep, int fd)
{
	int rc = sock_cq_add(&ep->cq->sock, fd, &ep->src, EPOLLIN | EPOLLRDHUP);

	if (rc)
		return rc;
	ep->fd = fd;
	TAILQ_INSERT_TAIL(&ep->cq->open, ep, open_link);
	return 0;
}

/*
 * Removes ep from the cq and the guests, and closes the connection's resources. The socket is shut
 * down, even if a forked child also has it.
 */
static void local_ep_detach(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	local_ep_forget(ep);
	local_caller_forget(ep);
	local_life_leave(ep);
	if (ep->fd >= 0) {
		TAILQ_REMOVE(&ep->cq->open, ep, open_link);
		sock_cq_del(&ep->cq->sock, ep->fd, &ep->src);
		if (!local_guest_leave(ep))
			local_sock_close(&from, ep->fd);
		ep->fd = -1;
	}
	local_pass_leave(ep);
	if (ep->table)
		local_table_unmap(ep->table);
	ep->table = NULL;
	local_called_leave(ep);
	local_shm_unmap(&ep->shm);
}

static void ep_free(struct local_ep *ep)
{
	free(ep->groups);
	free(ep->rq.wr);
	free(ep->sq.wr);
	free(ep);
}

int local_ep_open(struct tp_cq *base, const struct tp_ep_attr *attr,
		  struct tp_ep **out)
{
	struct local_cq *cq = container_of(base, struct local_cq, sock.cq);
	uint32_t nsend, nrecv;
	struct local_ep *ep;
	int rc = sock_ep_sizes(&cq->sock, attr, &nsend, &nrecv);

	if (rc)
		return rc;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	ep->sq.wr = sock_rings_open(&ep->sq.q, sizeof(*ep->sq.wr), nsend,
				    &ep->rq, nrecv);
	if (!ep->sq.wr) {
		free(ep);
		return -ENOMEM;
	}
	cq->sock.room -= nsend + nrecv;
	ep->ep.dev = base->dev;
	ep->ep.context = attr ? attr->context : NULL;
	ep->src.ready = ep_edge;
	ep->started.ep = ep->ended.ep = &ep->ep;
	ep->started.priv = &ep->priv;
	ep->cq = cq;
	ep->fd = ep->bell = ep->gong.fd = ep->life = -1;
	ep->group = attr && attr->group;
	strcpy(ep->peer, "local -");
	*out = &ep->ep;
	return 0;
}

/* Records that are already in the ring stay there for the peer. */
static void say_end(struct local_ep *ep, int status, uint32_t cause)
{
	struct local_side *me = ep->out.me;

	if (ep->state != LOCAL_EP_UP)
		return;
	atomic_store(&me->status, status);
	atomic_store(&me->cause, cause);
	atomic_store(&me->ended, 1);
}

void local_ep_close(struct tp_ep *base)
{
	struct local_ep *ep = to_ep(base);
	struct local_cq *cq = ep->cq;

	say_end(ep, 0, 0);
	sock_timer_clear(&cq->sock, &ep->timer);
	sock_timer_clear(&cq->sock, &ep->again);
	local_requests_flush(ep, -ECANCELED, 0);
	local_ep_detach(ep);
	if (ep->is_done)
		TAILQ_REMOVE(&cq->done, ep, done_link);
	tp_pending_drop(&cq->sock.events, &ep->started);
	tp_pending_drop(&cq->sock.events, &ep->ended);
	sock_recvq_report(&ep->rq, base->dev->log, ep->peer);
	cq->sock.room += ep->sq.q.max + ep->rq.max;
	ep_free(ep);
}

void local_ep_break(struct local_ep *ep, int status, uint32_t id)
{
	if (ep->state == LOCAL_EP_BROKEN)
		return;
	sock_timer_clear(&ep->cq->sock, &ep->timer);
	sock_timer_clear(&ep->cq->sock, &ep->again);
	local_ep_detach(ep);
	ep->state = LOCAL_EP_BROKEN;
	local_requests_flush(ep, status, id);
	tp_pending_queue(&ep->cq->sock.events, &ep->ended, TP_EV_DISCONNECTED,
			 status);
}

void local_ep_refuse(struct local_ep *ep, int status, uint32_t cause,
		     const char *why)
{
	log_warn(ep->ep.dev->log, "%s: connection broken: %s", ep->peer, why);
	say_end(ep, status, cause);
	local_ep_break(ep, status, 0);
}

void local_ep_lost(struct local_ep *ep, uint32_t id)
{
	log_warn(ep->ep.dev->log, "%s: connection lost: its process is gone",
		 ep->peer);
	local_ep_break(ep, -ECONNRESET, id);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_ep.c - endpoints: how they start and end, and the descriptors that an acceptor passes to
 * its connector. The acceptor sends them on the socket, among the wake-up bytes (bells). Only then
 * does it put the message that mentions them into the ring, so they arrive before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/local/local.h"

/*
 * Bytes.  Larger requests leave their data for the peer to fetch.  At 8 KiB, a request that carries
 * its data takes 10 us, and one whose data the peer fetches 9 us.
 */
#define CARRY_MAX 4096u

static struct local_ep *to_ep(const struct tp_ep *base)
{
	return container_of(base, struct local_ep, ep);
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

	return ep->guest && ep->same_user ? CARRY_MAX : UINT32_MAX;
}

void local_ep_join(struct tp_ep *base)
{
	local_group_client_join(to_ep(base));
}

static void drop_passed(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	while (ep->npassed)
		local_drop(&from, ep->passed[--ep->npassed]);
}

/*
 * Removes ep from the cq and the guests, and closes the connection's resources. Shuts the socket
 * down, because a forked child may also have it open.
 */
static void ep_detach(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	local_ep_deactivate(ep);
	local_group_client_forget(ep);
	local_acceptor_unwatch_process(ep);
	if (ep->fd >= 0) {
		TAILQ_REMOVE(&ep->cq->open, ep, open_link);
		sock_cq_del(&ep->cq->sock, ep->fd, &ep->src);
		if (!local_reach_dismiss_peer(ep))
			local_sock_close(&from, ep->fd);
		ep->fd = -1;
	}
	drop_passed(ep);
	if (ep->table)
		local_table_unmap(ep->table);
	ep->table = NULL;
	local_acceptor_close_bells(ep);
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
	ep->ep.peer = ep->peer;
	ep->started.ep = ep->ended.ep = &ep->ep;
	ep->started.priv = &ep->priv;
	ep->cq = cq;
	ep->fd = ep->bell = ep->wakeup.fd = ep->process = -1;
	ep->group = attr && attr->group;
	strcpy(ep->peer, "local -");
	*out = &ep->ep;
	return 0;
}

/* Records that are already in the ring stay there for the peer. */
static void publish_end(struct local_ep *ep, int status, uint32_t cause)
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

	publish_end(ep, 0, 0);
	sock_timer_clear(&cq->sock, &ep->timer);
	sock_timer_clear(&cq->sock, &ep->again);
	local_completions_flush(ep, -ECANCELED, 0);
	ep_detach(ep);
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
	ep_detach(ep);
	ep->state = LOCAL_EP_BROKEN;
	local_completions_flush(ep, status, id);
	tp_pending_queue(&ep->cq->sock.events, &ep->ended, TP_EV_DISCONNECTED,
			 status);
}

void local_ep_refuse(struct local_ep *ep, int status, uint32_t cause,
		     const char *why)
{
	log_warn(ep->ep.dev->log, "%s: connection broken: %s", ep->peer, why);
	publish_end(ep, status, cause);
	local_ep_break(ep, status, 0);
}

void local_ep_lost(struct local_ep *ep, uint32_t id)
{
	log_warn(ep->ep.dev->log, "%s: connection lost: its process is gone",
		 ep->peer);
	local_ep_break(ep, -ECONNRESET, id);
}

int local_ep_pass(struct tp_ep *base, const int *fd, unsigned int n)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);

	if (ep->state != LOCAL_EP_UP)
		return -ENOTCONN;
	if (ep->side != LOCAL_ACCEPTOR || !n || n > TP_PASS_MAX)
		return -EOPNOTSUPP;
	return local_fds_send(ep->fd, fd, n);
}

bool local_ep_receive_passed(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);
	int rc;

	do {
		rc = local_fds_recv(&from, ep->fd, ep->passed, TP_PASS_MAX,
				    &ep->npassed);
	} while (rc > 0);
	if (rc)
		local_ep_refuse(ep, -EPROTO, 0,
				"descriptors that nobody asked for");
	return !rc;
}

static int hand_out(struct local_ep *ep, int *fd, unsigned int n)
{
	if (n > ep->npassed)
		n = ep->npassed;
	memcpy(fd, ep->passed, n * sizeof(*fd));
	ep->npassed -= n;
	memmove(ep->passed, ep->passed + n, ep->npassed * sizeof(*fd));
	return (int)n;
}

int local_ep_take(struct tp_ep *base, int *fd, unsigned int n)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);

	if (ep->side != LOCAL_CONNECTOR || ep->state != LOCAL_EP_UP)
		return -EOPNOTSUPP;
	if (ep->npassed < n && !local_ep_receive_passed(ep))
		return -EPROTO;
	return hand_out(ep, fd, n);
}

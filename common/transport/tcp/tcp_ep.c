/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_ep.c - endpoints: their memory, and how they end. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"
#include "common/util/log.h"
#include "common/util/usermem.h"

static void leave_lists(struct tcp_ep *ep)
{
	if (ep->dirty)
		TAILQ_REMOVE(&ep->cq->dirty, ep, dirty_link);
	if (ep->ready)
		TAILQ_REMOVE(&ep->cq->ready, ep, ready_link);
	ep->dirty = false;
	ep->ready = false;
}

void tcp_ep_detach(struct tcp_ep *ep)
{
	if (ep->fd < 0)
		return;
	TAILQ_REMOVE(&ep->cq->open, ep, open_link);
	if (TAILQ_EMPTY(&ep->cq->open))
		sock_timer_clear(&ep->cq->sock, &ep->cq->pulse);
	sock_cq_del(&ep->cq->sock, ep->fd, &ep->src);
	close(ep->fd);
	ep->fd = -1;
}

static int rings_open(struct tcp_ep *ep, uint32_t nsend, uint32_t nrecv)
{
	STAILQ_INIT(&ep->sq.wait);
	STAILQ_INIT(&ep->sq.out);
	STAILQ_INIT(&ep->sq.reads);
	ep->rx.stage = malloc(TCP_STAGE);
	if (!ep->rx.stage)
		return -ENOMEM;
	ep->sq.wr = sock_rings_open(&ep->sq.q, sizeof(*ep->sq.wr), nsend,
				    &ep->rq, nrecv);
	return ep->sq.wr ? 0 : -ENOMEM;
}

static void seal_free(struct tcp_ep *ep)
{
	struct tcp_seal *seal = ep->seal;

	if (!seal)
		return;
	if (seal->in_on)
		ep->rx.stage = NULL; /* the stage is inside the seal's buffer */
	records_in_free(&seal->in);
	records_out_free(&seal->out);
	sealer_free(seal->sealer);
	free(seal);
	ep->seal = NULL;
}

static void memory_free(struct tcp_ep *ep)
{
	if (ep->addrs)
		freeaddrinfo(ep->addrs);
	seal_free(ep);
	free(ep->rx.seg);
	free(ep->rx.stage);
	free(ep->rq.wr);
	free(ep->sq.wr);
	free(ep);
}

static void too_late(struct sock_timer *timer)
{
	struct tcp_ep *ep = container_of(timer, struct tcp_ep, timer);

	log_info(ep->ep.dev->log, "%s: not connected in time", ep->peer);
	tcp_ep_break(ep, -ETIMEDOUT, 0);
}

int tcp_ep_open(struct tp_cq *base, const struct tp_ep_attr *attr,
		struct tp_ep **out)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, sock.cq);
	uint32_t nsend, nrecv;
	struct tcp_ep *ep;
	int rc = sock_ep_sizes(&cq->sock, attr, &nsend, &nrecv);

	if (rc)
		return rc;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	if (rings_open(ep, nsend, nrecv)) {
		memory_free(ep);
		return -ENOMEM;
	}
	cq->sock.room -= nsend + nrecv;
	ep->ep.dev = base->dev;
	ep->ep.context = attr ? attr->context : NULL;
	ep->ep.peer = ep->peer;
	ep->timer.fire = too_late;
	ep->started.ep = ep->ended.ep = &ep->ep;
	ep->started.priv = &ep->priv;
	ep->cq = cq;
	ep->fd = -1;
	strcpy(ep->peer, "tcp -");
	*out = &ep->ep;
	return 0;
}

static void drop_frames(struct tcp_ep *ep)
{
	tcp_txs_free(ep->cq, &ep->sq.wait);
	tcp_txs_free(ep->cq, &ep->sq.out);
	tcp_txs_free(ep->cq, &ep->sq.reads);
}

void tcp_ep_free(struct tcp_ep *ep)
{
	struct tcp_cq *cq = ep->cq;

	sock_timer_clear(&cq->sock, &ep->timer);
	tcp_ep_detach(ep);
	drop_frames(ep);
	leave_lists(ep);
	if (ep->done)
		TAILQ_REMOVE(&cq->done, ep, done_link);
	tp_pending_drop(&cq->sock.events, &ep->started);
	tp_pending_drop(&cq->sock.events, &ep->ended);
	sock_recvq_report(&ep->rq, ep->ep.dev->log, ep->peer);
	cq->sock.room += ep->sq.q.max + ep->rq.max;
	memory_free(ep);
}

void tcp_ep_break(struct tcp_ep *ep, int status, uint32_t id)
{
	if (ep->state == TCP_EP_BROKEN)
		return;
	ep->state = TCP_EP_BROKEN;
	sock_timer_clear(&ep->cq->sock, &ep->timer);
	leave_lists(ep);
	drop_frames(ep);
	tcp_ep_detach(ep);
	sock_rings_flush(&ep->sq.q, ep->sq.wr, sizeof(*ep->sq.wr), &ep->rq,
			 status, id);
	tcp_ep_list_completions(ep);
	tp_pending_queue(&ep->cq->sock.events, &ep->ended, TP_EV_DISCONNECTED,
			 status);
}

void tcp_ep_lost_because(struct tcp_ep *ep, int status, const char *why)
{
	struct tcp_sendq *sq = &ep->sq;
	uint32_t id = 0;

	if (sq->q.done != sq->q.tail)
		id = sq->wr[sq->q.done & sq->q.mask].id;
	if (ep->state ==
	    TCP_EP_HELLO) /* the caller says that it cannot connect */
		log_info(ep->ep.dev->log, "%s: connection lost: %s", ep->peer,
			 why);
	else
		log_warn(ep->ep.dev->log, "%s: connection lost: %s", ep->peer,
			 why);
	tcp_ep_break(ep, status, id);
}

void tcp_ep_lost(struct tcp_ep *ep, int status)
{
	tcp_ep_lost_because(ep, status, strerror(-status));
}

/* Sends a last frame, if nothing else is in flight. False: it cannot be sent. */
static bool send_last_record(struct tcp_ep *ep, const void *frame, uint32_t len)
{
	struct records_out *out = &ep->seal->out;
	const struct iovec from = { (void *)(uintptr_t)frame, len };

	if (records_out_left(out) || !records_out_data(out))
		return false;
	return !records_out_close(out, ep->seal->sealer, &from, 1, len) &&
	       send(ep->fd, out->buf, out->end, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		       (ssize_t)out->end;
}

/* A NAK cannot be sent in the middle of another frame. */
static bool send_nak(struct tcp_ep *ep, int status, uint32_t id)
{
	const struct tcp_tx *tx = STAILQ_FIRST(&ep->sq.out);
	struct tcp_frame nak = { .op = TCP_OP_NAK,
				 .imm = tcp_nak_code(status),
				 .id = id };
	const struct tcp_check check = { .covered = 0 };
	uint8_t buf[TCP_HEAD_LEN + TCP_CHECK_LEN];
	uint32_t len = TCP_HEAD_LEN + ep->check_len;

	if (tx && tx->head_sent)
		return false;
	tcp_frame_put(buf, &nak);
	tcp_check_put(buf, &check);
	if (ep->seal)
		return tcp_sends_records(ep) && send_last_record(ep, buf, len);
	return send(ep->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)len;
}

void tcp_ep_refuse(struct tcp_ep *ep, int status, uint32_t id, const char *why)
{
	log_warn(ep->ep.dev->log, "%s: connection broken: %s", ep->peer, why);
	if (!send_nak(ep, status, id))
		tcp_sock_reset_on_close(ep->fd);
	tcp_ep_break(ep, status, 0);
}

int tcp_ep_not_pvfs(struct tcp_ep *ep)
{
	log_info(ep->ep.dev->log, "%s: its answer is not a hello", ep->peer);
	tcp_sock_reset_on_close(ep->fd);
	tcp_ep_break(ep, -EPROTOTYPE, 0);
	return -EPROTOTYPE;
}

int tcp_rx_refuse(struct tcp_ep *ep, int status, const char *why)
{
	tcp_ep_refuse(ep, status, ep->rx.frame.id, why);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_send.c - sends frames: one gathering system call sends the headers and payload of many frames
 * without copying them first.
 */
#include <errno.h>

#include "common/transport/tcp/tcp.h"
#include "common/transport/tcp/tcp_seal.h"

/* A READ above the peer's limit waits, and so does everything posted after it. */
static void commit(struct tcp_sendq *sq)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&sq->wait))) {
		if (tx->asks && sq->nreads == TCP_READS_MAX)
			return;
		if (tx->asks)
			sq->nreads++;
		STAILQ_REMOVE_HEAD(&sq->wait, link);
		STAILQ_INSERT_TAIL(&sq->out, tx, link);
	}
}

static uint64_t room_for_data(const struct tcp_gather *g)
{
	uint64_t turn = TCP_BURST - g->data, room = g->max - g->bytes;

	return room < turn ? room : turn;
}

static int gather_data(struct tcp_ep *ep, struct tcp_tx *tx,
		       struct tcp_gather *g)
{
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
	struct tcp_cq *cq = ep->cq;
	uint64_t bytes = room_for_data(g);
	unsigned int n = tp_cursor_iov(&tx->data, cq->iov + g->niov,
				       TCP_IOV_MAX - g->niov, &bytes);

	if (tx->answers) {
		int held = tcp_hold(dev, tx->data.sge, n, cq->held + g->nheld);

		if (held < 0)
			return held;
		g->nheld += held;
	}
	g->niov += n;
	g->bytes += bytes;
	g->data += bytes;
	return 0;
}

static int gather_tx(struct tcp_ep *ep, struct tcp_tx *tx, struct tcp_gather *g)
{
	uint64_t head = tx->head_len - tx->head_sent;

	if (head > g->max - g->bytes)
		head = g->max - g->bytes;
	if (head) {
		struct iovec *iov = &ep->cq->iov[g->niov++];

		iov->iov_base = tx->head + tx->head_sent;
		iov->iov_len = head;
		g->bytes += head;
	}
	return tx->data.left && room_for_data(g) ? gather_data(ep, tx, g) : 0;
}

static bool is_full(const struct tcp_gather *g)
{
	return g->niov == TCP_IOV_MAX || !room_for_data(g);
}

bool tcp_gather(struct tcp_ep *ep, uint64_t max, struct tcp_gather *g)
{
	struct tcp_tx *tx;

	*g = (struct tcp_gather){ .max = max };
	STAILQ_FOREACH(tx, &ep->sq.out, link) {
		if (is_full(g))
			break;
		if (gather_tx(ep, tx, g) == 0) {
			if (ep->seal && tx == ep->seal->mark)
				break; /* the last unsealed frame */
			continue;
		}
		tcp_unhold(ep->cq->held, g->nheld);
		tcp_ep_refuse(ep, -EACCES, tx->id,
			      "memory deregistered while the peer reads it");
		return false;
	}
	return true;
}

static void tx_sent(struct tcp_ep *ep, struct tcp_tx *tx)
{
	struct tcp_sendq *sq = &ep->sq;

	STAILQ_REMOVE_HEAD(&sq->out, link);
	if (ep->seal && tx == ep->seal->mark)
		ep->seal->mark = NULL;
	if (tx->asks) {
		STAILQ_INSERT_TAIL(&sq->reads, tx, link);
		return;
	}
	if (tx->answers)
		sq->nanswers--;
	if (tx->nwr)
		tcp_sends_done(ep, tx->first, tx->nwr);
	tcp_tx_free(ep->cq, tx);
}

void tcp_sent(struct tcp_ep *ep, uint64_t n)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&ep->sq.out))) {
		uint64_t part = tx->head_len - tx->head_sent;

		if (part > n)
			part = n;
		tx->head_sent += (uint32_t)part;
		n -= part;
		part = tx->data.left < n ? tx->data.left : n;
		tp_cursor_move(&tx->data, part);
		n -= part;
		if (tx->head_sent < tx->head_len || tx->data.left)
			return;
		tx_sent(ep, tx);
	}
}

/* The socket accepts no more: continue when it becomes writable. */
static void full(struct tcp_ep *ep)
{
	ep->sq.full = true;
	tcp_ep_mask(ep, ep->mask | EPOLLOUT);
}

/* The peer's last frames may tell the reason: read them, then break. */
static void failed(struct tcp_ep *ep, int err)
{
	if (err == EFAULT) {
		tcp_ep_refuse(ep, -EFAULT, 0,
			      "memory of a send request is not mapped");
		return;
	}
	ep->lost = err == EPIPE ? -ECONNRESET : -err;
	if (ep->rq.paused) {
		tcp_ep_lost(ep, ep->lost);
		return;
	}
	ep->sq.full = true;
	ep->rx.hup = true;
	ep->rx.readable = true;
	tcp_ep_ready(ep);
}

bool tcp_send_ended(struct tcp_ep *ep, ssize_t n, uint64_t wanted)
{
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno != EAGAIN) {
		failed(ep, errno);
		return false;
	}
	if (n > 0)
		tcp_pulse_wake(ep->cq);
	if (n == (ssize_t)wanted)
		return true;
	full(ep);
	return false;
}

/* True: there may be more to send now. */
static bool flush_once(struct tcp_ep *ep)
{
	struct msghdr msg = { .msg_iov = ep->cq->iov };
	struct tcp_gather g;
	ssize_t n;

	if (!tcp_gather(ep, UINT64_MAX, &g))
		return false;
	msg.msg_iovlen = g.niov;
	n = sendmsg(ep->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	tcp_unhold(ep->cq->held, g.nheld);
	if (n > 0)
		tcp_sent(ep, (uint64_t)n);
	return tcp_send_ended(ep, n, g.bytes);
}

void tcp_flush(struct tcp_ep *ep)
{
	commit(&ep->sq);
	if (!tcp_sealed_out(ep) &&
	    (STAILQ_EMPTY(&ep->sq.out) || !flush_once(ep)))
		return;
	if (tcp_sealed_out(ep))
		tcp_sealed_flush(ep);
	else if (!STAILQ_EMPTY(&ep->sq.out))
		tcp_ep_dirty(ep);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_send.c - frames to the socket: headers and payload of many frames in
 * one gathering system call, from where they are.
 */
#include <errno.h>

#include "tcp.h"
#include "tcp_seal.h"

/* One system call: what it gathers. */
struct gather {
	unsigned int niov;
	int nheld;
	uint64_t bytes, data;
};

/* A READ above the peer's limit waits, and what was posted after it. */
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

static int gather_data(struct tcp_ep *ep, struct tcp_tx *tx, struct gather *g)
{
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
	struct tcp_cq *cq = ep->cq;
	uint64_t bytes = TCP_BURST - g->data;
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

static int gather_tx(struct tcp_ep *ep, struct tcp_tx *tx, struct gather *g)
{
	if (tx->head_sent < tx->head_len) {
		struct iovec *iov = &ep->cq->iov[g->niov++];

		iov->iov_base = tx->head + tx->head_sent;
		iov->iov_len = tx->head_len - tx->head_sent;
		g->bytes += iov->iov_len;
	}
	return tx->data.left && g->data < TCP_BURST ? gather_data(ep, tx, g)
						    : 0;
}

/* False: memory that the peer reads was deregistered; broken. */
static bool gather(struct tcp_ep *ep, struct gather *g)
{
	struct tcp_tx *tx;

	*g = (struct gather){ 0 };
	STAILQ_FOREACH(tx, &ep->sq.out, link) {
		if (g->niov == TCP_IOV_MAX || g->data >= TCP_BURST)
			break;
		if (gather_tx(ep, tx, g) == 0) {
			if (ep->seal && tx == ep->seal->mark)
				break; /* the last that is bare */
			continue;
		}
		tcp_unhold(ep->cq->held, g->nheld);
		tcp_ep_refuse(ep, -EACCES, tx->id,
			      "memory deregistered while the peer reads it");
		return false;
	}
	return true;
}

void tcp_tx_sent(struct tcp_ep *ep, struct tcp_tx *tx)
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

static void sent(struct tcp_ep *ep, uint64_t n)
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
		tcp_tx_sent(ep, tx);
	}
}

/* The socket takes no more: go on when there is room. */
static void full(struct tcp_ep *ep)
{
	ep->sq.full = true;
	tcp_ep_mask(ep, ep->mask | EPOLLOUT);
}

/* What the peer said last may tell the reason: read on, then break. */
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
	struct gather g;
	ssize_t n;

	if (!gather(ep, &g))
		return false;
	msg.msg_iovlen = g.niov;
	n = sendmsg(ep->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	tcp_unhold(ep->cq->held, g.nheld);
	if (n > 0)
		sent(ep, (uint64_t)n);
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

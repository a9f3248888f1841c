/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_begin.c - what each operation does when its frame begins and ends. */
#include <errno.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"
#include "common/transport/tcp/tcp_seal.h"

static const uint8_t *payload_of(const struct tcp_frame *frame,
				 const uint8_t *p)
{
	return p + TCP_HEAD_LEN + frame->nseg * TCP_SEG_LEN;
}

static int begin_handshake(struct tcp_ep *ep, const struct tcp_frame *frame,
			   const uint8_t *p)
{
	if (ep->state != TCP_EP_HELLO)
		return tcp_rx_refuse(ep, -EPROTO, "a second handshake");
	return tcp_connect_answer(ep, frame, payload_of(frame, p));
}

static int not_ready(struct tcp_ep *ep)
{
	return sock_recvq_not_ready(&ep->rq, ep->ep.dev->log, ep->peer);
}

static int begin_send(struct tcp_ep *ep, const struct tcp_frame *frame,
		      const uint8_t *p)
{
	const struct sock_recvq *rq = &ep->rq;
	const struct sock_rwr *wr = &rq->wr[rq->done & rq->mask];

	if (rq->done == rq->tail)
		return not_ready(ep);
	if (frame->len > wr->sge.len) {
		tcp_recv_done(ep, TP_RECV, -EMSGSIZE, 0, 0);
		return tcp_rx_refuse(ep, -EMSGSIZE,
				     "a message longer than its receive");
	}
	tp_cursor_set(&ep->rx.land, &wr->sge, 1, frame->len);
	return 0;
}

static int begin_write_imm(struct tcp_ep *ep, const struct tcp_frame *frame,
			   const uint8_t *p)
{
	if (ep->rq.done == ep->rq.tail)
		return not_ready(ep);
	return tcp_rma_write(ep, frame, p);
}

static struct tcp_tx *asked(struct tcp_ep *ep, const struct tcp_frame *frame)
{
	struct tcp_tx *tx = STAILQ_FIRST(&ep->sq.reads);

	return tx && tx->id == frame->id ? tx : NULL;
}

static int begin_read_data(struct tcp_ep *ep, const struct tcp_frame *frame,
			   const uint8_t *p)
{
	const struct tcp_tx *tx = asked(ep, frame);

	if (!tx || tx->op != TCP_OP_READ || tx->len != frame->len)
		return tcp_rx_refuse(ep, -EPROTO, "an answer to no READ");
	tp_cursor_set(&ep->rx.land, tx->sge, tx->nsge, tx->len);
	return 0;
}

static int begin_atomic_old(struct tcp_ep *ep, const struct tcp_frame *frame,
			    const uint8_t *p)
{
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
	const struct tcp_tx *tx = asked(ep, frame);
	uint64_t old = tcp_u64_get(payload_of(frame, p));
	struct tcp_mr *held;
	int n;

	if (!tx || tx->op == TCP_OP_READ)
		return tcp_rx_refuse(ep, -EPROTO, "an answer to no atomic");
	n = tcp_hold(dev, tx->sge, 1, &held);
	if (n < 0)
		return tcp_rx_refuse(ep, -EFAULT,
				     "memory of a request was deregistered");
	memcpy(tx->sge[0].addr, &old, sizeof(old));
	tcp_unhold(&held, n);
	return 0;
}

static int begin_nak(struct tcp_ep *ep, const struct tcp_frame *frame,
		     const uint8_t *p)
{
	int status = tcp_nak_status(frame->imm);

	log_warn(ep->ep.dev->log, "%s: the peer broke the connection: %s",
		 ep->peer, strerror(-status));
	tcp_ep_break(ep, status, frame->id);
	return status;
}

static int begin_bye(struct tcp_ep *ep, const struct tcp_frame *frame,
		     const uint8_t *p)
{
	tcp_ep_break(ep, 0, 0);
	return -ENOTCONN;
}

static int begin_pulse(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *p)
{
	return tcp_pulse_answer(ep);
}

static int begin_echo(struct tcp_ep *ep, const struct tcp_frame *frame,
		      const uint8_t *p)
{
	return tcp_pulse_echo(ep);
}

static int begin_sealed(struct tcp_ep *ep, const struct tcp_frame *frame,
			const uint8_t *p)
{
	return tcp_seal_begin(ep);
}

static int (*const begin[TCP_OP_END])(struct tcp_ep *ep,
				      const struct tcp_frame *frame,
				      const uint8_t *p) = {
	[TCP_OP_ACCEPT] = begin_handshake,
	[TCP_OP_REJECT] = begin_handshake,
	[TCP_OP_SEND] = begin_send,
	[TCP_OP_WRITE] = tcp_rma_write,
	[TCP_OP_WRITE_IMM] = begin_write_imm,
	[TCP_OP_READ] = tcp_rma_read,
	[TCP_OP_READ_DATA] = begin_read_data,
	[TCP_OP_FETCH_ADD] = tcp_rma_atomic,
	[TCP_OP_CMP_SWAP] = tcp_rma_atomic,
	[TCP_OP_ATOMIC_OLD] = begin_atomic_old,
	[TCP_OP_NAK] = begin_nak,
	[TCP_OP_BYE] = begin_bye,
	[TCP_OP_PULSE] = begin_pulse,
	[TCP_OP_ECHO] = begin_echo,
	[TCP_OP_SEALED] = begin_sealed,
};

static bool before_up(enum tcp_op op)
{
	return op == TCP_OP_ACCEPT || op == TCP_OP_REJECT || op == TCP_OP_NAK;
}

/* An end that seals accepts unsealed only frames that carry no content. */
static bool too_bare(const struct tcp_ep *ep, enum tcp_op op)
{
	switch (op) {
	case TCP_OP_SEALED:
		return ep->seal->in_on;
	case TCP_OP_PULSE:
	case TCP_OP_ECHO:
	case TCP_OP_NAK:
	case TCP_OP_BYE:
		return false;
	default:
		return !ep->seal->in_on;
	}
}

int tcp_frame_begin(struct tcp_ep *ep, const struct tcp_frame *frame,
		    const uint8_t *p)
{
	tp_cursor_set(&ep->rx.land, NULL, 0, 0);
	if (!begin[frame->op] ||
	    (ep->state == TCP_EP_HELLO && !before_up(frame->op)))
		return tcp_rx_refuse(ep, -EPROTO, "a frame out of place");
	if (ep->seal && too_bare(ep, frame->op))
		return tcp_seal_broken(ep, TP_FLAW_BARE);
	return begin[frame->op](ep, frame, p);
}

/* The oldest READ or atomic has its answer; the next one may be sent. */
static void answered(struct tcp_ep *ep)
{
	struct tcp_sendq *sq = &ep->sq;
	struct tcp_tx *tx = STAILQ_FIRST(&sq->reads);

	STAILQ_REMOVE_HEAD(&sq->reads, link);
	sq->nreads--;
	tcp_sends_done(ep, tx->first, tx->nwr);
	tcp_tx_free(ep->cq, tx);
	if (!STAILQ_EMPTY(&sq->wait))
		tcp_ep_dirty(ep);
}

void tcp_frame_end(struct tcp_ep *ep)
{
	const struct tcp_frame *frame = &ep->rx.frame;

	switch (frame->op) {
	case TCP_OP_SEND:
		tcp_recv_done(ep, TP_RECV, 0, frame->len, 0);
		break;
	case TCP_OP_WRITE_IMM:
		tcp_recv_done(ep, TP_RECV_IMM, 0, frame->len, frame->imm);
		break;
	case TCP_OP_READ_DATA:
	case TCP_OP_ATOMIC_OLD:
		answered(ep);
		break;
	case TCP_OP_SEALED:
		tcp_seal_began(ep);
		break;
	default:
		break;
	}
}

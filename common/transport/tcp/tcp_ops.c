/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_ops.c - what a received frame of each operation does at its begin and at its end. The peer's
 * one-sided operations access our registered memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"

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
		tcp_recv_complete(ep, TP_RECV, -EMSGSIZE, 0, 0);
		return tcp_rx_refuse(ep, -EMSGSIZE,
				     "a message longer than its receive");
	}
	tp_cursor_set(&ep->rx.land, &wr->sge, 1, frame->len);
	return 0;
}

/*
 * Decodes the segments at p into sge and checks each against the registered memory. 0, -EPROTO or
 * -EACCES.
 */
static int check_segs(struct tcp_ep *ep, const struct tcp_frame *frame,
		      const uint8_t *p, unsigned int access, struct tp_sge *sge)
{
	uint64_t sum = 0;
	uint32_t i;

	p += TCP_HEAD_LEN;
	for (i = 0; i < frame->nseg; i++, p += TCP_SEG_LEN) {
		struct tcp_seg seg;

		if (tcp_seg_get(p, &seg))
			return -EPROTO;
		if (!tcp_mr_serves(&ep->ep, seg.rkey, seg.addr, seg.len,
				   access))
			return -EACCES;
		sge[i].addr = (void *)(uintptr_t)seg.addr;
		sge[i].len = seg.len;
		sge[i].lkey = seg.rkey;
		sum += seg.len;
	}
	return sum == frame->len ? 0 : -EPROTO;
}

static int refuse_segs(struct tcp_ep *ep, int status)
{
	return tcp_rx_refuse(ep, status,
			     status == -EACCES
				     ? "the peer has no right to that memory"
				     : "segments that do not make sense");
}

static int seg_room(struct tcp_rx *rx, uint32_t nseg)
{
	unsigned int cap = nseg > 8 ? TCP_SEG_MAX : 8;
	struct tp_sge *seg;

	if (nseg <= rx->seg_cap)
		return 0;
	seg = realloc(rx->seg, cap * sizeof(*seg));
	if (!seg)
		return -ENOMEM;
	rx->seg = seg;
	rx->seg_cap = cap;
	return 0;
}

static int begin_write(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *p)
{
	struct tcp_rx *rx = &ep->rx;
	int rc = seg_room(rx, frame->nseg);

	if (rc)
		return tcp_rx_refuse(ep, rc, "no memory for a WRITE");
	rc = check_segs(ep, frame, p, TP_REMOTE_WRITE, rx->seg);
	if (rc)
		return refuse_segs(ep, rc);
	tp_cursor_set(&rx->land, rx->seg, frame->nseg, frame->len);
	return 0;
}

static int begin_write_imm(struct tcp_ep *ep, const struct tcp_frame *frame,
			   const uint8_t *p)
{
	if (ep->rq.done == ep->rq.tail)
		return not_ready(ep);
	return begin_write(ep, frame, p);
}

/* Queues an answer in `out`, so it is sent before posted requests that are still in `wait`. */
static void queue_answer(struct tcp_ep *ep, struct tcp_tx *tx)
{
	tcp_tx_check(ep, tx);
	ep->sq.nanswers++;
	STAILQ_INSERT_TAIL(&ep->sq.out, tx, link);
	tcp_ep_mark_dirty(ep);
}

static struct tcp_tx *new_answer(struct tcp_ep *ep, enum tcp_op op,
				 const struct tcp_frame *question, uint32_t len)
{
	const struct tcp_frame frame = { .op = op,
					 .len = len,
					 .id = question->id };
	uint32_t small = op == TCP_OP_ATOMIC_OLD ? len : 0;
	struct tcp_tx *tx;

	if (ep->sq.nanswers == TCP_READS_MAX) {
		tcp_rx_refuse(ep, -EPROTO, "too many READs at once");
		return NULL;
	}
	tx = tcp_tx_new(ep->cq, TCP_HEAD_LEN + ep->check_len + small,
			question->nseg);
	if (!tx) {
		tcp_rx_refuse(ep, -ENOMEM, "no memory for an answer");
		return NULL;
	}
	tx->op = (uint16_t)op;
	tx->answers = true;
	tx->id = question->id;
	tcp_frame_put(tx->head, &frame);
	return tx;
}

static int begin_read(struct tcp_ep *ep, const struct tcp_frame *frame,
		      const uint8_t *p)
{
	struct tcp_tx *tx = new_answer(ep, TCP_OP_READ_DATA, frame, frame->len);
	int rc;

	if (!tx)
		return -EPROTO;
	rc = check_segs(ep, frame, p, TP_REMOTE_READ, tx->sge);
	if (rc) {
		tcp_tx_free(ep->cq, tx);
		return refuse_segs(ep, rc);
	}
	tx->nsge = frame->nseg;
	tp_cursor_set(&tx->data, tx->sge, tx->nsge, frame->len);
	queue_answer(ep, tx);
	return 0;
}

static uint64_t execute_atomic(enum tcp_op op, uint64_t *target, uint64_t first,
			       uint64_t second)
{
	if (op == TCP_OP_FETCH_ADD)
		return __atomic_fetch_add(target, first, __ATOMIC_SEQ_CST);
	/* on a mismatch, first becomes the old value */
	__atomic_compare_exchange_n(target, &first, second, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return first;
}

/* -EACCES: no right to the memory, or it was deregistered. */
static int do_atomic(struct tcp_ep *ep, const struct tcp_frame *frame,
		     const uint8_t *p, uint64_t *old)
{
	struct tcp_dev *dev = tcp_ep_dev(ep);
	struct tcp_frame target = *frame;
	const uint8_t *operand = p + TCP_HEAD_LEN + TCP_SEG_LEN;
	struct tcp_mr *held;
	struct tp_sge sge;
	int rc;

	target.len = 8;
	rc = check_segs(ep, &target, p, TP_REMOTE_ATOMIC, &sge);
	if (rc)
		return rc;
	if ((uintptr_t)sge.addr % 8)
		return -EPROTO;
	rc = tcp_mr_hold(dev, &sge, 1, &held);
	if (rc < 0)
		return rc;
	*old = execute_atomic(frame->op, sge.addr, tcp_u64_get(operand),
			      tcp_u64_get(operand + 8));
	tcp_mr_release(&held, rc);
	return 0;
}

static int begin_atomic(struct tcp_ep *ep, const struct tcp_frame *frame,
			const uint8_t *p)
{
	struct tcp_tx *tx = new_answer(ep, TCP_OP_ATOMIC_OLD, frame, 8);
	uint64_t old;
	int rc;

	if (!tx)
		return -EPROTO;
	rc = do_atomic(ep, frame, p, &old);
	if (rc) {
		tcp_tx_free(ep->cq, tx);
		return refuse_segs(ep, rc);
	}
	tcp_u64_put(tcp_tx_rest(ep, tx), old);
	queue_answer(ep, tx);
	return 0;
}

static struct tcp_tx *awaiting_request(struct tcp_ep *ep,
				       const struct tcp_frame *frame)
{
	struct tcp_tx *tx = STAILQ_FIRST(&ep->sq.reads);

	return tx && tx->id == frame->id ? tx : NULL;
}

static int begin_read_data(struct tcp_ep *ep, const struct tcp_frame *frame,
			   const uint8_t *p)
{
	const struct tcp_tx *tx = awaiting_request(ep, frame);

	if (!tx || tx->op != TCP_OP_READ || tx->len != frame->len)
		return tcp_rx_refuse(ep, -EPROTO, "an answer to no READ");
	tp_cursor_set(&ep->rx.land, tx->sge, tx->nsge, tx->len);
	return 0;
}

static int begin_atomic_old(struct tcp_ep *ep, const struct tcp_frame *frame,
			    const uint8_t *p)
{
	struct tcp_dev *dev = tcp_ep_dev(ep);
	const struct tcp_tx *tx = awaiting_request(ep, frame);
	uint64_t old = tcp_u64_get(payload_of(frame, p));
	struct tcp_mr *held;
	int n;

	if (!tx || tx->op == TCP_OP_READ)
		return tcp_rx_refuse(ep, -EPROTO, "an answer to no atomic");
	n = tcp_mr_hold(dev, tx->sge, 1, &held);
	if (n < 0)
		return tcp_rx_refuse(ep, -EFAULT,
				     "memory of a request was deregistered");
	memcpy(tx->sge[0].addr, &old, sizeof(old));
	tcp_mr_release(&held, n);
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
	return tcp_pulse_handle_echo(ep);
}

static int begin_sealed(struct tcp_ep *ep, const struct tcp_frame *frame,
			const uint8_t *p)
{
	return tcp_seal_start(ep);
}

static int (*const begin[TCP_OP_END])(struct tcp_ep *ep,
				      const struct tcp_frame *frame,
				      const uint8_t *p) = {
	[TCP_OP_ACCEPT] = begin_handshake,
	[TCP_OP_REJECT] = begin_handshake,
	[TCP_OP_SEND] = begin_send,
	[TCP_OP_WRITE] = begin_write,
	[TCP_OP_WRITE_IMM] = begin_write_imm,
	[TCP_OP_READ] = begin_read,
	[TCP_OP_READ_DATA] = begin_read_data,
	[TCP_OP_FETCH_ADD] = begin_atomic,
	[TCP_OP_CMP_SWAP] = begin_atomic,
	[TCP_OP_ATOMIC_OLD] = begin_atomic_old,
	[TCP_OP_NAK] = begin_nak,
	[TCP_OP_BYE] = begin_bye,
	[TCP_OP_PULSE] = begin_pulse,
	[TCP_OP_ECHO] = begin_echo,
	[TCP_OP_SEALED] = begin_sealed,
};

static bool is_before_up(enum tcp_op op)
{
	return op == TCP_OP_ACCEPT || op == TCP_OP_REJECT || op == TCP_OP_NAK;
}

/* An end that seals accepts unsealed only frames that carry no content. */
bool tcp_must_be_sealed(const struct tcp_ep *ep, uint8_t op)
{
	if (!ep->seal)
		return false;
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
	    (ep->state == TCP_EP_HELLO && !is_before_up(frame->op)))
		return tcp_rx_refuse(ep, -EPROTO, "a frame out of place");
	if (tcp_must_be_sealed(ep, (uint8_t)frame->op))
		return tcp_seal_break(ep, TP_FLAW_BARE);
	return begin[frame->op](ep, frame, p);
}

/* The oldest READ or atomic has its answer; the next one may be sent. */
static void request_answered(struct tcp_ep *ep)
{
	struct tcp_sendq *sq = &ep->sq;
	struct tcp_tx *tx = STAILQ_FIRST(&sq->reads);

	STAILQ_REMOVE_HEAD(&sq->reads, link);
	sq->nreads--;
	tcp_sends_complete(ep, tx->first, tx->nwr);
	tcp_tx_free(ep->cq, tx);
	if (!STAILQ_EMPTY(&sq->wait))
		tcp_ep_mark_dirty(ep);
}

void tcp_frame_end(struct tcp_ep *ep)
{
	const struct tcp_frame *frame = &ep->rx.frame;

	switch (frame->op) {
	case TCP_OP_SEND:
		tcp_recv_complete(ep, TP_RECV, 0, frame->len, 0);
		break;
	case TCP_OP_WRITE_IMM:
		tcp_recv_complete(ep, TP_RECV_IMM, 0, frame->len, frame->imm);
		break;
	case TCP_OP_READ_DATA:
	case TCP_OP_ATOMIC_OLD:
		request_answered(ep);
		break;
	case TCP_OP_SEALED:
		tcp_seal_complete(ep);
		break;
	default:
		break;
	}
}

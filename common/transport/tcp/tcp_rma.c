/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_rma.c - one-sided operations of the peer on our registered memory. */
#include <errno.h>
#include <stdlib.h>

#include "common/transport/tcp/tcp.h"

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

int tcp_rma_write(struct tcp_ep *ep, const struct tcp_frame *frame,
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

/* An answer is sent before requests that are posted but not committed. */
static void queue_answer(struct tcp_ep *ep, struct tcp_tx *tx)
{
	ep->sq.nanswers++;
	STAILQ_INSERT_TAIL(&ep->sq.out, tx, link);
	tcp_ep_dirty(ep);
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
	tx = tcp_tx_new(ep->cq, TCP_HEAD_LEN + small, question->nseg);
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

int tcp_rma_read(struct tcp_ep *ep, const struct tcp_frame *frame,
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

static uint64_t execute(enum tcp_op op, uint64_t *target, uint64_t first,
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
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
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
	rc = tcp_hold(dev, &sge, 1, &held);
	if (rc < 0)
		return rc;
	*old = execute(frame->op, sge.addr, tcp_u64_get(operand),
		       tcp_u64_get(operand + 8));
	tcp_unhold(&held, rc);
	return 0;
}

int tcp_rma_atomic(struct tcp_ep *ep, const struct tcp_frame *frame,
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
	tcp_u64_put(tx->head + TCP_HEAD_LEN, old);
	queue_answer(ep, tx);
	return 0;
}

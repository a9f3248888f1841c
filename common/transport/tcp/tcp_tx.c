/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_tx.c - frames to be sent, and how work requests become frames. Small frames are reused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"
#include "common/util/crc32c.h"

#define SMALL_ROOM 192u
#define SPARE_MAX 256u
#define RUN_SGE_MAX 512u /* pieces of requests that share a frame */

static struct tcp_tx *tx_alloc(struct tcp_cq *cq, size_t room)
{
	struct tcp_tx *tx = STAILQ_FIRST(&cq->spare);

	if (room > SMALL_ROOM)
		return malloc(sizeof(*tx) + room);
	if (!tx)
		return malloc(sizeof(*tx) + SMALL_ROOM);
	STAILQ_REMOVE_HEAD(&cq->spare, link);
	cq->nspare--;
	return tx;
}

struct tcp_tx *tcp_tx_new(struct tcp_cq *cq, uint32_t head_len, uint32_t nsge)
{
	size_t room = nsge * sizeof(struct tp_sge) + head_len;
	struct tcp_tx *tx = tx_alloc(cq, room);

	if (!tx)
		return NULL;
	memset(tx, 0, sizeof(*tx));
	tx->small = room <= SMALL_ROOM;
	tx->head_len = head_len;
	tx->head = (uint8_t *)&tx->sge[nsge];
	return tx;
}

void tcp_tx_free(struct tcp_cq *cq, struct tcp_tx *tx)
{
	if (!tx->small || cq->nspare >= SPARE_MAX) {
		free(tx);
		return;
	}
	STAILQ_INSERT_HEAD(&cq->spare, tx, link);
	cq->nspare++;
}

void tcp_txs_free(struct tcp_cq *cq, struct tcp_txs *txs)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(txs))) {
		STAILQ_REMOVE_HEAD(txs, link);
		tcp_tx_free(cq, tx);
	}
}

/* The start of a message, if it is in memory that this process may read. */
static uint32_t covered_bytes(struct tcp_ep *ep, const struct tcp_tx *tx)
{
	const struct tp_sge *sge = tx->sge;
	struct tcp_mr *mr;
	bool stays;

	if (tx->op != TCP_OP_SEND || !tx->nsge ||
	    tcp_mr_hold(tcp_ep_dev(ep), sge, 1, &mr) < 0)
		return 0;
	stays = !tcp_mr_any_volatile(&mr, 1);
	tcp_mr_release(&mr, 1);
	if (!stays)
		return 0;
	return sge->len < TCP_COVERED_MAX ? sge->len : TCP_COVERED_MAX;
}

void tcp_tx_check(struct tcp_ep *ep, struct tcp_tx *tx)
{
	struct tcp_check check = { .covered = 0 };
	uint32_t before = TCP_HEAD_LEN + ep->check_len;

	if (!ep->check_len)
		return;
	check.covered = covered_bytes(ep, tx);
	check.rest = crc32c(0, tx->head + before, tx->head_len - before);
	if (check.covered)
		check.rest = crc32c(check.rest, tx->sge[0].addr, check.covered);
	tcp_check_put(tx->head, &check);
}

int tcp_tx_small(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const void *payload, uint32_t len)
{
	struct tcp_tx *tx = tcp_tx_new(ep->cq,
				       TCP_HEAD_LEN + ep->check_len + len, 0);

	if (!tx)
		return -ENOMEM;
	tx->op = frame->op;
	tcp_frame_put(tx->head, frame);
	if (len)
		memcpy(tcp_tx_rest(ep, tx), payload, len);
	tcp_tx_check(ep, tx);
	STAILQ_INSERT_TAIL(&ep->sq.out, tx, link);
	tcp_ep_mark_dirty(ep);
	return 0;
}

static const struct {
	enum tcp_op op;
	bool runs; /* consecutive requests may share a frame */
	bool asks;
} kinds[] = {
	[TP_SEND] = { TCP_OP_SEND, false, false },
	[TP_WRITE] = { TCP_OP_WRITE, true, false },
	[TP_WRITE_IMM] = { TCP_OP_WRITE_IMM, false, false },
	[TP_READ] = { TCP_OP_READ, true, true },
	[TP_FETCH_ADD] = { TCP_OP_FETCH_ADD, false, true },
	[TP_CMP_SWAP] = { TCP_OP_CMP_SWAP, false, true },
};

static bool dev_covers(struct tp_dev *dev, const struct tp_sge *sge,
		       unsigned int access)
{
	return tcp_mr_covers(container_of(dev, struct tcp_dev, dev), sge->lkey,
			     (uintptr_t)sge->addr, sge->len, access);
}

static uint32_t wr_len(const struct tp_send_wr *wr)
{
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < wr->nsge; i++)
		len += wr->sgl[i].len;
	return len;
}

/* Consecutive requests of a chain that share a frame. */
struct frame_run {
	uint32_t nwr, nsge, nseg;
	uint32_t len;
};

static struct frame_run find_run(const struct tp_send_wr *wr)
{
	const struct tp_send_wr *first = wr;
	struct frame_run run = { 0 };

	for (; wr && wr->opcode == first->opcode; wr = wr->next) {
		uint32_t len = wr_len(wr);

		if (run.nwr &&
		    (!kinds[wr->opcode].runs || run.nwr == TCP_SEG_MAX ||
		     run.nsge + wr->nsge > RUN_SGE_MAX ||
		     run.len + len > TP_LEN_MAX))
			break;
		run.nwr++;
		run.nsge += wr->nsge;
		run.len += len;
	}
	run.nseg = first->opcode == TP_SEND ? 0 : run.nwr;
	return run;
}

static void add_pieces(struct tcp_tx *tx, const struct tp_send_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nsge; i++) {
		if (wr->sgl[i].len)
			tx->nsge = tp_sge_add(tx->sge, tx->nsge, &wr->sgl[i]);
	}
}

/* Appends a segment to nseg others; joins adjacent ones. Returns the new number. */
static uint32_t add_seg(const struct tcp_ep *ep, struct tcp_tx *tx,
			uint32_t nseg, const struct tp_send_wr *wr)
{
	struct tcp_seg seg = { wr->remote_addr, wr->rkey, wr_len(wr) }, last;
	uint8_t *p = tcp_tx_rest(ep, tx) + nseg * TCP_SEG_LEN;

	if (seg.len == 0)
		return nseg;
	if (nseg && tcp_seg_get(p - TCP_SEG_LEN, &last) == 0 &&
	    last.rkey == seg.rkey && last.addr + last.len == seg.addr) {
		seg.addr = last.addr;
		seg.len += last.len;
		tcp_seg_put(p - TCP_SEG_LEN, &seg);
		return nseg;
	}
	tcp_seg_put(p, &seg);
	return nseg + 1;
}

static void store_wr(struct tcp_ep *ep, uint32_t at, uint32_t id,
		     const struct tp_send_wr *wr)
{
	ep->sq.wr[at & ep->sq.q.mask] = (struct sock_swr){
		.wr_id = wr->wr_id,
		.len = wr_len(wr),
		.id = id,
		.opcode = (uint8_t)wr->opcode,
		.signaled = wr->flags & TP_SIGNALED,
	};
}

static void put_operands(uint8_t *p, const struct tp_send_wr *wr)
{
	tcp_u64_put(p, wr->compare_add);
	tcp_u64_put(p + 8, wr->opcode == TP_CMP_SWAP ? wr->swap : 0);
}

static void fill_tx(struct tcp_ep *ep, struct tcp_tx *tx,
		    const struct frame_run *run, const struct tp_send_wr *wr)
{
	struct tcp_frame frame = {
		.op = kinds[wr->opcode].op,
		.len = sock_wr_is_atomic(wr) ? 16 : run->len,
		.imm = wr->opcode == TP_WRITE_IMM ? wr->imm : 0,
		.id = tx->id,
	};
	uint32_t i;

	if (sock_wr_is_atomic(wr))
		put_operands(tcp_tx_rest(ep, tx) + TCP_SEG_LEN, wr);
	for (i = 0; i < run->nwr; i++, wr = wr->next) {
		add_pieces(tx, wr);
		if (run->nseg)
			frame.nseg = add_seg(ep, tx, frame.nseg, wr);
		store_wr(ep, tx->first + i, tx->id, wr);
	}
	tcp_frame_put(tx->head, &frame);
	tx->head_len -= (run->nseg - frame.nseg) * TCP_SEG_LEN;
	tcp_tx_check(ep, tx);
	if (!tx->asks)
		tp_cursor_set(&tx->data, tx->sge, tx->nsge, run->len);
}

static struct tcp_tx *make_tx(struct tcp_ep *ep, uint32_t first,
			      const struct frame_run *run,
			      const struct tp_send_wr *wr)
{
	uint32_t head = TCP_HEAD_LEN + ep->check_len + run->nseg * TCP_SEG_LEN +
			(sock_wr_is_atomic(wr) ? 16 : 0);
	struct tcp_tx *tx = tcp_tx_new(ep->cq, head, run->nsge);

	if (!tx)
		return NULL;
	tx->first = first;
	tx->nwr = run->nwr;
	tx->id = sock_next_id(&ep->sq.q);
	tx->len = run->len;
	tx->op = (uint16_t)kinds[wr->opcode].op;
	tx->asks = kinds[wr->opcode].asks;
	fill_tx(ep, tx, run, wr);
	return tx;
}

int tcp_post_send(struct tp_ep *base, const struct tp_send_wr *wr)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);
	struct tcp_txs made = STAILQ_HEAD_INITIALIZER(made);
	uint32_t tail = ep->sq.q.tail;
	int rc;

	if (ep->state != TCP_EP_UP)
		return -ENOTCONN;
	rc = sock_wr_check(&ep->ep, ep->peer, wr,
			   ep->sq.q.max - (ep->sq.q.tail - ep->sq.q.head),
			   dev_covers);
	if (rc)
		return rc;
	while (wr) {
		struct frame_run run = find_run(wr);
		struct tcp_tx *tx = make_tx(ep, tail, &run, wr);

		if (!tx) {
			tcp_txs_free(ep->cq, &made);
			return -ENOMEM;
		}
		STAILQ_INSERT_TAIL(&made, tx, link);
		tail += run.nwr;
		while (run.nwr--)
			wr = wr->next;
	}
	ep->sq.q.tail = tail;
	STAILQ_CONCAT(&ep->sq.wait, &made);
	tcp_ep_mark_dirty(ep);
	return 0;
}

int tcp_post_recv(struct tp_ep *base, const struct tp_recv_wr *wr)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);
	int rc;

	if (ep->state == TCP_EP_BROKEN)
		return -ENOTCONN;
	rc = sock_recvq_post(&ep->rq, base->dev, wr, dev_covers);
	if (rc <= 0)
		return rc;
	tcp_ep_mark_ready(ep);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_hw.c - turns requests into work requests. A request with more pieces or bytes than the
 * device accepts is cut into several; the last one carries the flags:
 *
 *   WRITE_IMM of 40 pieces:   WRITE(30)  WRITE_IMM(10, signaled)
 *
 * A copy of a request that finds no room in the send queue waits. One work request per half queue
 * is signaled, so that room becomes free.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

static bool has_room(const struct vb_ep *ep)
{
	return ep->hw_posted - ep->hw_done < ep->hw_size;
}

static uint64_t mark(const struct vb_ep *ep, uint64_t number)
{
	return (uint64_t)ep->key << 32 | (number & VB_NUMBER_MASK);
}

int vb_recv_hw(struct vb_ep *ep, const struct vb_recv *r, uint64_t number)
{
	struct ibv_sge sge = { (uintptr_t)r->sge.addr, r->sge.len,
			       r->sge.lkey };
	struct ibv_recv_wr wr = {
		.wr_id = mark(ep, number) | VB_MARK_RECV,
		.sg_list = &sge,
		.num_sge = sge.length > 0,
	}, *bad;

	return -ibv_post_recv(ep->qp, &wr, &bad);
}

/* The next piece, of at most max bytes. 0: there is none. */
static uint32_t cut_piece(const struct tp_send_wr *wr, struct vb_cut *cut,
			  uint32_t max, struct ibv_sge *sge)
{
	const struct tp_sge *s;
	uint32_t n;

	while (cut->i < wr->nsge && wr->sgl[cut->i].len == cut->off) {
		cut->i++;
		cut->off = 0;
	}
	if (cut->i == wr->nsge)
		return 0;
	s = &wr->sgl[cut->i];
	n = s->len - cut->off < max ? s->len - cut->off : max;
	*sge = (struct ibv_sge){ (uintptr_t)s->addr + cut->off, n, s->lkey };
	cut->off += n;
	cut->done += n;
	return n;
}

static bool is_cut_up(const struct tp_send_wr *wr, const struct vb_cut *cut)
{
	unsigned int i = cut->i;
	uint32_t off = cut->off;

	for (; i < wr->nsge; i++, off = 0) {
		if (wr->sgl[i].len > off)
			return false;
	}
	return true;
}

static void opcode_set(struct ibv_send_wr *hw, const struct tp_send_wr *wr,
		       uint64_t at)
{
	static const enum ibv_wr_opcode codes[] = {
		[TP_SEND] = IBV_WR_SEND,
		[TP_WRITE] = IBV_WR_RDMA_WRITE,
		[TP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[TP_READ] = IBV_WR_RDMA_READ,
		[TP_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[TP_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};

	hw->opcode = codes[wr->opcode];
	if (wr->opcode == TP_FETCH_ADD || wr->opcode == TP_CMP_SWAP) {
		hw->wr.atomic.remote_addr = wr->remote_addr;
		hw->wr.atomic.rkey = wr->rkey;
		hw->wr.atomic.compare_add = wr->compare_add;
		hw->wr.atomic.swap = wr->swap;
		return;
	}
	hw->imm_data = htonl(wr->imm);
	hw->wr.rdma.remote_addr = wr->remote_addr + at;
	hw->wr.rdma.rkey = wr->rkey;
}

/* Small messages travel in the work request itself. */
static bool is_inline(const struct vb_ep *ep, const struct tp_send_wr *wr,
		      uint64_t len)
{
	return wr->opcode == TP_SEND && len <= ep->max_inline;
}

/* Adds one work request to the batch. True: it was the request's last. */
static bool cut_next(struct vb_ep *ep, const struct tp_send_wr *wr,
		     struct vb_cut *cut, struct vb_batch *b)
{
	struct ibv_sge *sge = &b->sge[b->nsge];
	struct ibv_send_wr *hw = &b->wr[b->n];
	uint64_t at = cut->done;
	uint32_t left = vb_dev(ep->ep.dev)->port_attr.max_msg_sz;
	unsigned int n = 0;
	uint32_t len;
	bool last;

	for (; n < ep->max_sge && left; n++, left -= len) {
		len = cut_piece(wr, cut, left, &sge[n]);
		if (!len)
			break;
	}
	last = is_cut_up(wr, cut);
	*hw = (struct ibv_send_wr){ .wr_id = mark(ep, ep->hw_posted),
				    .sg_list = sge,
				    .num_sge = (int)n };
	opcode_set(hw, wr, at);
	if (!last && wr->opcode == TP_WRITE_IMM)
		hw->opcode = IBV_WR_RDMA_WRITE;
	if ((last && (wr->flags & TP_SIGNALED)) ||
	    ++ep->hw_quiet >= ep->hw_size / 2) {
		hw->send_flags |= IBV_SEND_SIGNALED;
		ep->hw_quiet = 0;
	}
	if (is_inline(ep, wr, cut->done - at))
		hw->send_flags |= IBV_SEND_INLINE;
	if (b->n)
		hw[-1].next = hw;
	b->n++;
	b->nsge += n;
	ep->hw_posted++;
	return last;
}

void vb_batch_flush(struct vb_ep *ep, struct vb_batch *b)
{
	struct ibv_send_wr *bad = NULL;
	int rc;

	if (!b->n)
		return;
	rc = ibv_post_send(ep->qp, b->wr, &bad);
	if (rc) {
		log_error(vb_log(ep), "%s: posting failed (error %d)", ep->peer,
			  rc);
		for (; bad; bad = bad->next)
			ep->hw_posted--;
		vb_break(ep, -EIO);
	}
	b->n = b->nsge = 0;
}

/* Cuts as much as there is room for. True: all of it. */
static bool cut_all(struct vb_ep *ep, const struct tp_send_wr *wr,
		    struct vb_cut *cut, struct vb_send *s, struct vb_batch *b)
{
	bool last = false;

	while (!last && has_room(ep) && ep->state != VB_BROKEN) {
		if (b->n == VB_BATCH)
			vb_batch_flush(ep, b);
		last = cut_next(ep, wr, cut, b);
	}
	s->whole = last;
	s->end = ep->hw_posted;
	return last;
}

static int wait_for_room(struct vb_ep *ep, const struct tp_send_wr *wr,
			 const struct vb_cut *cut, uint64_t ring)
{
	struct vb_waiting *w;

	w = malloc(sizeof(*w) + wr->nsge * sizeof(w->sgl[0]));
	if (!w)
		return -ENOMEM;
	w->wr = *wr;
	w->cut = *cut;
	w->ring = ring;
	if (wr->nsge)
		memcpy(w->sgl, wr->sgl, wr->nsge * sizeof(w->sgl[0]));
	w->wr.sgl = w->sgl;
	STAILQ_INSERT_TAIL(&ep->waiting, w, link);
	return 0;
}

int vb_send_hw(struct vb_ep *ep, const struct tp_send_wr *wr,
	       struct vb_batch *b)
{
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	uint64_t ring = ep->send_posted++;
	struct vb_cut cut = { 0 };

	s->whole = false;
	s->end = UINT64_MAX;
	if (STAILQ_EMPTY(&ep->waiting) && cut_all(ep, wr, &cut, s, b))
		return 0;
	s->end = UINT64_MAX;
	return wait_for_room(ep, wr, &cut, ring);
}

void vb_push(struct vb_ep *ep)
{
	struct vb_waiting *w;
	struct vb_batch b;
	bool all = true;

	if (STAILQ_EMPTY(&ep->waiting))
		return;
	b.n = b.nsge = 0;
	while (all && (w = STAILQ_FIRST(&ep->waiting)) && has_room(ep)) {
		struct vb_send *s = &ep->sends[w->ring % ep->send_size];

		all = cut_all(ep, &w->wr, &w->cut, s, &b);
		if (!all)
			break;
		STAILQ_REMOVE_HEAD(&ep->waiting, link);
		free(w);
	}
	vb_batch_flush(ep, &b);
}

void vb_waiting_free(struct vb_ep *ep)
{
	struct vb_waiting *w;

	while ((w = STAILQ_FIRST(&ep->waiting))) {
		STAILQ_REMOVE_HEAD(&ep->waiting, link);
		free(w);
	}
}

/*
 * RC has no keepalive: it never reports a host that crashed. The peer's device alone acknowledges a
 * Write of 0 bytes; otherwise the Write fails after the retries.
 */
void vb_heartbeat(struct vb_ep *ep)
{
	struct tp_send_wr wr = { .opcode = TP_WRITE, .flags = TP_SIGNALED };
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct vb_batch b;

	b.n = b.nsge = 0;
	*s = (struct vb_send){ .opcode = TP_WRITE, .ours = true };
	if (vb_send_hw(ep, &wr, &b) == 0)
		vb_batch_flush(ep, &b);
}

/* Binds in order with sends: a peer that receives the key later finds the window open. */
int vb_bind_hw(struct vb_ep *ep, struct ibv_mw *mw,
	       const struct ibv_mw_bind_info *info, uint32_t rkey)
{
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct ibv_send_wr wr = { .wr_id = mark(ep, ep->hw_posted),
				  .opcode = IBV_WR_BIND_MW,
				  .send_flags = IBV_SEND_SIGNALED,
				  .bind_mw = { mw, rkey, *info } };
	struct ibv_send_wr *bad;
	int rc;

	if (!has_room(ep) || ep->bound > ep->send_retired)
		return -ENOBUFS;
	rc = ibv_post_send(ep->qp, &wr, &bad);
	if (rc)
		return -rc;
	*s = (struct vb_send){ .opcode = TP_WRITE,
			       .ours = true,
			       .whole = true };
	s->end = ++ep->hw_posted;
	ep->bound = ++ep->send_posted;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_send.c - posted requests. A request with more pieces or bytes than the device accepts is
 * cut into several work requests; the last one carries the flags:
 *
 *   WRITE_IMM of 40 pieces:   WRITE(30)  WRITE_IMM(10, signaled)
 *
 * If the send queue has no room, a copy of the request waits. One work request per half queue is
 * signaled, because only its completion frees the room. Messages that the device cannot gather are
 * copied to registered memory.
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

/* Gets the next piece, of at most max bytes.  Returns its length; 0: there is none. */
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

/* Whether the data travels in the work request itself, because the message is small. */
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
	*hw = (struct ibv_send_wr){ .wr_id = vb_wr_id(ep, ep->hw_posted),
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

static void batch_post(struct vb_ep *ep, struct vb_batch *b)
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
		vb_ep_break(ep, -EIO);
	}
	b->n = b->nsge = 0;
}

/* Cuts as much of the request as there is room for.  Returns true if that is all of it. */
static bool cut_all(struct vb_ep *ep, const struct tp_send_wr *wr,
		    struct vb_cut *cut, struct vb_send *s, struct vb_batch *b)
{
	bool last = false;

	while (!last && has_room(ep) && ep->state != VB_BROKEN) {
		if (b->n == VB_BATCH)
			batch_post(ep, b);
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

static int send_add(struct vb_ep *ep, const struct tp_send_wr *wr,
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

void vb_send_continue(struct vb_ep *ep)
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
	batch_post(ep, &b);
}

/*
 * RC has no keepalive: it never reports a host that crashed. The peer's device alone acknowledges a
 * Write of 0 bytes; otherwise the Write fails after the retries.
 */
void vb_send_heartbeat(struct vb_ep *ep)
{
	struct tp_send_wr wr = { .opcode = TP_WRITE, .flags = TP_SIGNALED };
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct vb_batch b;

	b.n = b.nsge = 0;
	*s = (struct vb_send){ .opcode = TP_WRITE, .ours = true };
	if (send_add(ep, &wr, &b) == 0)
		batch_post(ep, &b);
}

struct extent_of {
	uint64_t len;
	unsigned int pieces; /* those that are not empty */
	bool unregistered;
};

static struct extent_of wr_measure(const struct tp_send_wr *wr)
{
	struct extent_of x = { 0 };
	unsigned int i;

	for (i = 0; i < wr->nsge; i++) {
		if (!wr->sgl[i].len)
			continue;
		x.len += wr->sgl[i].len;
		x.pieces++;
		x.unregistered |= wr->sgl[i].lkey == TP_LKEY_NONE;
	}
	return x;
}

static int wr_check(const struct tp_send_wr *wr)
{
	struct extent_of x;

	if (wr->nsge > TP_SGE_MAX)
		return -EINVAL;
	x = wr_measure(wr);
	switch (wr->opcode) {
	case TP_SEND:
		return x.len > TP_SEND_MAX ? -EINVAL : 0;
	case TP_WRITE:
	case TP_WRITE_IMM:
	case TP_READ:
		return x.len > TP_LEN_MAX || x.unregistered ? -EINVAL : 0;
	case TP_FETCH_ADD:
	case TP_CMP_SWAP:
		return wr->nsge != 1 || x.len != 8 || wr->remote_addr % 8 ||
				       x.unregistered
			       ? -EINVAL
			       : 0;
	default:
		return -EINVAL;
	}
}

/* Whether the device cannot gather the message: too many pieces, or unregistered memory. */
static bool needs_copy(const struct vb_ep *ep, const struct tp_send_wr *wr,
		       const struct extent_of *x)
{
	if (wr->opcode != TP_SEND && wr->opcode != TP_WRITE_IMM)
		return false;
	if (x->pieces > ep->max_sge)
		return x->len <= VB_BOUNCE_MAX;
	return x->unregistered && x->len > ep->max_inline;
}

static void copy_pieces(uint8_t *to, const struct tp_send_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nsge; i++) {
		if (!wr->sgl[i].len)
			continue;
		memcpy(to, wr->sgl[i].addr, wr->sgl[i].len);
		to += wr->sgl[i].len;
	}
}

static int post_copied(struct vb_ep *ep, const struct tp_send_wr *wr,
		       struct vb_send *s, struct vb_batch *batch)
{
	struct tp_send_wr whole = *wr;
	struct tp_sge sge;

	s->bounce = vb_bounce_get(ep->cq, s->len);
	if (!s->bounce)
		return -ENOMEM;
	copy_pieces(s->bounce->mem, wr);
	sge = (struct tp_sge){ s->bounce->mem, s->len, s->bounce->mr->lkey };
	whole.sgl = &sge;
	whole.nsge = 1;
	return send_add(ep, &whole, batch);
}

static int post_one(struct vb_ep *ep, const struct tp_send_wr *wr,
		    struct vb_batch *batch)
{
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct extent_of x = wr_measure(wr);

	*s = (struct vb_send){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.len = (uint32_t)x.len,
		.signaled = wr->flags & TP_SIGNALED,
	};
	ep->send_user++;
	return needs_copy(ep, wr, &x) ? post_copied(ep, wr, s, batch)
				      : send_add(ep, wr, batch);
}

/* A chain that was posted in part cannot fail as a whole: break the connection. */
static void post_failed(struct vb_ep *ep, struct vb_batch *batch, int rc)
{
	batch_post(ep, batch);
	log_error(vb_log(ep), "%s: no memory for a message's copy", ep->peer);
	vb_ep_break(ep, rc);
}

int vb_post_send(struct tp_ep *base, const struct tp_send_wr *wr)
{
	struct vb_ep *ep = vb_ep(base);
	const struct tp_send_wr *w;
	struct vb_batch batch;
	unsigned int n = 0;
	int rc;

	if (ep->state != VB_OPEN)
		return -ENOTCONN;
	for (w = wr; w; w = w->next, n++) {
		rc = wr_check(w);
		if (rc)
			return rc;
	}
	if (n > ep->max_send - ep->send_user)
		return -ENOBUFS;
	batch.n = batch.nsge = 0;
	for (w = wr; w && ep->state == VB_OPEN; w = w->next) {
		rc = post_one(ep, w, &batch);
		if (rc) {
			post_failed(ep, &batch, rc);
			return 0;
		}
	}
	batch_post(ep, &batch);
	return 0;
}

int vb_post_recv(struct tp_ep *base, const struct tp_recv_wr *wr)
{
	struct vb_ep *ep = vb_ep(base);
	struct vb_recv *r;
	int rc;

	if (ep->state == VB_BROKEN)
		return -ENOTCONN;
	if (ep->recv_posted - ep->recv_retired == ep->max_recv)
		return -ENOBUFS;
	if (wr->sge.len && wr->sge.lkey == TP_LKEY_NONE)
		return -EINVAL;
	r = &ep->recvs[ep->recv_posted % ep->max_recv];
	*r = (struct vb_recv){ wr->wr_id, wr->sge };
	if (ep->qp) {
		rc = vb_qp_post_recv(ep, r, ep->recv_posted);
		if (rc)
			return rc;
	}
	ep->recv_posted++;
	return 0;
}

/* Binds in order with sends: a peer that receives the key later finds the window open. */
static int bind_window(struct vb_ep *ep, struct ibv_mw *mw,
		       const struct ibv_mw_bind_info *info, uint32_t rkey)
{
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct ibv_send_wr wr = { .wr_id = vb_wr_id(ep, ep->hw_posted),
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

/* A lack of free windows is no reason to use memory without windows from now on. */
static int window_failed(struct vb_ep *ep, int rc)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);

	log_debug(vb_log(ep), "%s: no memory window (error %d)", ep->peer, -rc);
	if (rc != -EOPNOTSUPP && rc != -ENOSYS && rc != -EINVAL)
		return rc;
	if (!atomic_exchange(&d->no_windows, true))
		log_warn(d->dev.log,
			 "verbs: %s has no memory windows, though it says so "
			 "(error %d): keys of Fast RDMA buffers are good for "
			 "all connections",
			 ibv_get_device_name(d->ctx->device), -rc);
	return rc;
}

static int window_open(struct vb_mr *mr, struct vb_ep *ep)
{
	const struct ibv_mw_bind_info info = {
		.mr = mr->ib,
		.addr = (uintptr_t)mr->mr.addr,
		.length = mr->mr.len,
		.mw_access_flags = (unsigned int)mr->window_access,
	};
	uint32_t rkey = ibv_inc_rkey(mr->mw->rkey);
	int rc = bind_window(ep, mr->mw, &info, rkey);

	if (!rc)
		mr->mr.rkey = rkey;
	return rc;
}

int vb_mr_only(struct tp_mr *base, struct tp_ep *base_ep)
{
	struct vb_mr *mr = container_of(base, struct vb_mr, mr);
	struct vb_ep *ep = vb_ep(base_ep);
	int rc;

	if (!mr->window_access)
		return -EOPNOTSUPP;
	if (ep->state != VB_OPEN)
		return -ENOTCONN;
	vb_mr_end_window(mr);
	mr->mw = ibv_alloc_mw(vb_dev(base->dev)->pd, IBV_MW_TYPE_2);
	if (!mr->mw)
		return window_failed(ep, errno ? -errno : -ENOMEM);
	LIST_INSERT_HEAD(&ep->windows, mr, of_ep);
	rc = window_open(mr, ep);
	if (!rc)
		return 0;
	vb_mr_end_window(mr);
	return window_failed(ep, rc);
}

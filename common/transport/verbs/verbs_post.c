/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_post.c - checks posted requests, and copies messages that the device cannot gather. */
#include <errno.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

struct extent_of {
	uint64_t len;
	unsigned int pieces; /* those that are not empty */
	bool unregistered;
};

static struct extent_of measure(const struct tp_send_wr *wr)
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

static int check(const struct tp_send_wr *wr)
{
	struct extent_of x;

	if (wr->nsge > TP_SGE_MAX)
		return -EINVAL;
	x = measure(wr);
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

static void copy(uint8_t *to, const struct tp_send_wr *wr)
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
	copy(s->bounce->mem, wr);
	sge = (struct tp_sge){ s->bounce->mem, s->len, s->bounce->mr->lkey };
	whole.sgl = &sge;
	whole.nsge = 1;
	return vb_send_hw(ep, &whole, batch);
}

static int post_one(struct vb_ep *ep, const struct tp_send_wr *wr,
		    struct vb_batch *batch)
{
	struct vb_send *s = &ep->sends[ep->send_posted % ep->send_size];
	struct extent_of x = measure(wr);

	*s = (struct vb_send){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.len = (uint32_t)x.len,
		.signaled = wr->flags & TP_SIGNALED,
	};
	ep->send_user++;
	return needs_copy(ep, wr, &x) ? post_copied(ep, wr, s, batch)
				      : vb_send_hw(ep, wr, batch);
}

/* A chain that was posted in part cannot fail as a whole: break the connection. */
static void post_failed(struct vb_ep *ep, struct vb_batch *batch, int rc)
{
	vb_batch_flush(ep, batch);
	log_error(vb_log(ep), "%s: no memory for a message's copy", ep->peer);
	vb_break(ep, rc);
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
		rc = check(w);
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
	vb_batch_flush(ep, &batch);
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
		rc = vb_recv_hw(ep, r, ep->recv_posted);
		if (rc)
			return rc;
	}
	ep->recv_posted++;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* local_post.c - checks work requests and stores them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/local/local.h"

static struct local_ep *to_ep(struct tp_ep *base)
{
	return container_of(base, struct local_ep, ep);
}

static bool covers(struct tp_dev *dev, const struct tp_sge *sge,
		   unsigned int access)
{
	return local_mr_covers(&local_dev(dev)->mrs, sge->lkey,
			       (uintptr_t)sge->addr, sge->len, access);
}

/* Stores the pieces that are not empty, in the request or in separate memory. -ENOMEM. */
static int note_pieces(struct local_swr *to, const struct tp_send_wr *wr)
{
	struct tp_sge *sge = to->few;
	unsigned int i, n = 0;

	to->more = NULL;
	if (wr->nsge > LOCAL_FEW) {
		to->more = malloc(wr->nsge * sizeof(*sge));
		if (!to->more)
			return -ENOMEM;
		sge = to->more;
	}
	to->r.len = 0;
	for (i = 0; i < wr->nsge; i++) {
		if (!wr->sgl[i].len)
			continue;
		to->r.len += wr->sgl[i].len;
		sge[n++] = wr->sgl[i];
	}
	tp_cursor_set(&to->data, sge, n, to->r.len);
	return 0;
}

static int note_wr(struct local_sendq *sq, uint32_t at,
		   const struct tp_send_wr *wr)
{
	struct local_swr *to = &sq->wr[at & sq->q.mask];

	to->r = (struct sock_swr){ .wr_id = wr->wr_id,
				   .opcode = (uint8_t)wr->opcode,
				   .signaled = wr->flags & TP_SIGNALED };
	to->remote = wr->remote_addr;
	to->operand[0] = wr->compare_add;
	to->operand[1] = wr->swap;
	to->rkey = wr->rkey;
	to->imm = wr->imm;
	to->begun = false;
	to->asked = false;
	return note_pieces(to, wr);
}

static int note_chain(struct local_ep *ep, const struct tp_send_wr *wr)
{
	struct local_sendq *sq = &ep->sq;
	uint32_t tail = sq->q.tail, i;

	for (; wr; wr = wr->next, tail++) {
		if (note_wr(sq, tail, wr) == 0)
			continue;
		for (i = sq->q.tail; i != tail; i++)
			free(sq->wr[i & sq->q.mask].more);
		return -ENOMEM;
	}
	for (i = sq->q.tail; i != tail; i++)
		sq->wr[i & sq->q.mask].r.id = sock_next_id(&sq->q);
	sq->q.tail = tail;
	return 0;
}

/*
 * A message is sent at once. A copy from or to the peer's memory waits for the next poll, so that
 * posting stays short.
 */
int local_post_send(struct tp_ep *base, const struct tp_send_wr *wr)
{
	struct local_ep *ep = to_ep(base);
	int rc;

	if (ep->state != LOCAL_EP_UP)
		return -ENOTCONN;
	rc = sock_wr_check(&ep->ep, ep->peer, wr,
			   ep->sq.q.max - (ep->sq.q.tail - ep->sq.q.head),
			   covers);
	if (!rc)
		rc = note_chain(ep, wr);
	if (rc)
		return rc;
	local_ep_heat(ep);
	local_tx(ep, false);
	return 0;
}

int local_post_recv(struct tp_ep *base, const struct tp_recv_wr *wr)
{
	struct local_ep *ep = to_ep(base);
	int rc;

	if (ep->state == LOCAL_EP_BROKEN)
		return -ENOTCONN;
	rc = sock_recvq_post(&ep->rq, base->dev, wr, covers);
	if (rc <= 0)
		return rc;
	local_ep_heat(ep);
	return 0;
}

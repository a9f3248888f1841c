/* SPDX-License-Identifier: BSD-2-Clause */
/* local_completions.c - completions: marked in the rings, collected from there. */
#include <stdlib.h>

#include "common/transport/local/local.h"

void local_ep_list_completions(struct local_ep *ep)
{
	if (ep->is_done || (!ep->sq.q.report && ep->rq.head == ep->rq.done))
		return;
	ep->is_done = true;
	TAILQ_INSERT_TAIL(&ep->cq->done, ep, done_link);
}

static void pieces_free(struct local_swr *wr)
{
	free(wr->more);
	wr->more = NULL;
}

/* Completions are reported in posting order: an unfinished READ holds back later requests. */
void local_send_complete(struct local_ep *ep, struct local_swr *wr)
{
	struct local_sendq *sq = &ep->sq;

	wr->r.done = true;
	pieces_free(wr);
	sock_sends_complete(&sq->q, sq->wr, sizeof(*sq->wr), sq->next);
	local_ep_list_completions(ep);
}

void local_recv_complete(struct local_ep *ep, enum tp_opcode opcode, int status,
			 uint32_t len, uint32_t imm)
{
	sock_recvq_complete(&ep->rq, opcode, status, len, imm);
	local_ep_list_completions(ep);
}

void local_completions_flush(struct local_ep *ep, int status, uint32_t id)
{
	struct local_sendq *sq = &ep->sq;
	uint32_t i;

	for (i = sq->q.done; i != sq->q.tail; i++)
		pieces_free(&sq->wr[i & sq->q.mask]);
	sq->next = sq->q.tail;
	sock_rings_flush(&sq->q, sq->wr, sizeof(*sq->wr), &ep->rq, status, id);
	local_ep_list_completions(ep);
}

int local_completions_take(struct local_ep *ep, struct tp_wc *wc, int n)
{
	int got = sock_sends_take(&ep->sq.q, ep->sq.wr, sizeof(*ep->sq.wr),
				  &ep->ep, wc, n);

	return got + sock_recvq_take(&ep->rq, &ep->ep, wc + got, n - got);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* local_done.c - completions: noted in the rings, harvested from there. */
#include <errno.h>
#include <stdlib.h>

#include "local.h"

static void pieces_free(struct local_swr *wr)
{
	free(wr->more);
	wr->more = NULL;
}

/* Reported in the order of posting: a READ holds back what follows it. */
void local_send_done(struct local_ep *ep, struct local_swr *wr)
{
	struct local_sendq *sq = &ep->sq;

	wr->done = true;
	pieces_free(wr);
	while (sq->done != sq->next && sq->wr[sq->done & sq->mask].done) {
		if (sq->wr[sq->done++ & sq->mask].signaled)
			sq->report++;
	}
	local_ep_done(ep);
}

void local_recv_done(struct local_ep *ep, enum tp_opcode opcode, int status,
		     uint32_t len, uint32_t imm)
{
	sock_recvq_done(&ep->rq, opcode, status, len, imm);
	local_ep_done(ep);
}

/* Also what is done but stands behind a request that is not. */
void local_requests_flush(struct local_ep *ep, int status, uint32_t id)
{
	struct local_sendq *sq = &ep->sq;
	struct sock_recvq *rq = &ep->rq;

	for (; sq->done != sq->tail; sq->done++) {
		struct local_swr *wr = &sq->wr[sq->done & sq->mask];

		wr->status = -ECANCELED;
		if (id && wr->id == id)
			wr->status = (int16_t)status;
		pieces_free(wr);
		sq->report++;
	}
	sq->next = sq->tail;
	while (rq->done != rq->tail)
		local_recv_done(ep, TP_RECV, -ECANCELED, 0, 0);
	local_ep_done(ep);
}

static int harvest_sends(struct local_ep *ep, struct tp_wc *wc, int n)
{
	struct local_sendq *sq = &ep->sq;
	int got = 0;

	while (got < n && sq->report) {
		const struct local_swr *wr = &sq->wr[sq->head++ & sq->mask];

		if (!wr->signaled && !wr->status)
			continue;
		sq->report--;
		wc[got++] = (struct tp_wc){
			.wr_id = wr->wr_id,
			.status = wr->status,
			.opcode = wr->opcode,
			.byte_len = wr->opcode == TP_READ ? wr->len : 0,
			.ep = &ep->ep,
		};
	}
	return got;
}

int local_harvest(struct local_ep *ep, struct tp_wc *wc, int n)
{
	int got = harvest_sends(ep, wc, n);

	return got + sock_recvq_harvest(&ep->rq, &ep->ep, wc + got, n - got);
}

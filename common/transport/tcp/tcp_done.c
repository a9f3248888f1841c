/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_done.c - completions: noted in the rings, harvested from there. */
#include "tcp.h"

/* Reported in the order of posting: a READ holds back what follows it. */
void tcp_sends_done(struct tcp_ep *ep, uint32_t first, uint32_t n)
{
	struct tcp_sendq *sq = &ep->sq;
	uint32_t i;

	for (i = 0; i < n; i++)
		sq->wr[(first + i) & sq->mask].done = true;
	while (sq->done != sq->tail && sq->wr[sq->done & sq->mask].done) {
		if (sq->wr[sq->done++ & sq->mask].signaled)
			sq->report++;
	}
	tcp_ep_done(ep);
}

void tcp_recv_done(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		   uint32_t len, uint32_t imm)
{
	sock_recvq_done(&ep->rq, opcode, status, len, imm);
	tcp_ep_done(ep);
}

static int harvest_sends(struct tcp_ep *ep, struct tp_wc *wc, int n)
{
	struct tcp_sendq *sq = &ep->sq;
	int got = 0;

	while (got < n && sq->report) {
		const struct tcp_swr *wr = &sq->wr[sq->head++ & sq->mask];

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

int tcp_harvest(struct tcp_ep *ep, struct tp_wc *wc, int n)
{
	int got = harvest_sends(ep, wc, n);

	return got + sock_recvq_harvest(&ep->rq, &ep->ep, wc + got, n - got);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_done.c - completions: marked in the rings, collected from there. */
#include "common/transport/tcp/tcp.h"

/* Completions are reported in posting order: an unfinished READ holds back later requests. */
void tcp_sends_done(struct tcp_ep *ep, uint32_t first, uint32_t n)
{
	struct tcp_sendq *sq = &ep->sq;
	uint32_t i;

	for (i = 0; i < n; i++)
		sq->wr[(first + i) & sq->q.mask].done = true;
	sock_sends_done(&sq->q, sq->wr, sizeof(*sq->wr), sq->q.tail);
	tcp_ep_done(ep);
}

void tcp_recv_done(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		   uint32_t len, uint32_t imm)
{
	sock_recvq_done(&ep->rq, opcode, status, len, imm);
	tcp_ep_done(ep);
}

int tcp_harvest(struct tcp_ep *ep, struct tp_wc *wc, int n)
{
	int got = sock_sends_harvest(&ep->sq.q, ep->sq.wr, sizeof(*ep->sq.wr),
				     &ep->ep, wc, n);

	return got + sock_recvq_harvest(&ep->rq, &ep->ep, wc + got, n - got);
}

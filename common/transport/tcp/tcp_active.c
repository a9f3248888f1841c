/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_active.c - puts endpoints on the lists of their cq (dirty, ready, done), and collects the
 * completions that are marked in their rings.
 */
#include <netinet/tcp.h>

#include "common/transport/tcp/tcp.h"

void tcp_ep_mark_dirty(struct tcp_ep *ep)
{
	if (ep->dirty || ep->sq.full || ep->state < TCP_EP_HELLO ||
	    ep->state == TCP_EP_BROKEN)
		return;
	ep->dirty = true;
	TAILQ_INSERT_TAIL(&ep->cq->dirty, ep, dirty_link);
}

void tcp_ep_mark_ready(struct tcp_ep *ep)
{
	if (ep->ready || ep->state < TCP_EP_HELLO || ep->state == TCP_EP_BROKEN)
		return;
	ep->ready = true;
	TAILQ_INSERT_TAIL(&ep->cq->ready, ep, ready_link);
}

/* Puts ep on the list cq->done if it has completions. */
void tcp_ep_list_completions(struct tcp_ep *ep)
{
	if (ep->done || (!ep->sq.q.report && ep->rq.head == ep->rq.done))
		return;
	ep->done = true;
	TAILQ_INSERT_TAIL(&ep->cq->done, ep, done_link);
}

void tcp_ep_set_mask(struct tcp_ep *ep, uint32_t mask)
{
	if (mask == ep->mask)
		return;
	ep->mask = mask;
	sock_cq_mod(&ep->cq->sock, ep->fd, &ep->src, mask);
}

/* Completions are reported in posting order: an unfinished READ holds back later requests. */
void tcp_sends_complete(struct tcp_ep *ep, uint32_t first, uint32_t n)
{
	struct tcp_sendq *sq = &ep->sq;
	uint32_t i;

	for (i = 0; i < n; i++)
		sq->wr[(first + i) & sq->q.mask].done = true;
	sock_sends_complete(&sq->q, sq->wr, sizeof(*sq->wr), sq->q.tail);
	tcp_ep_list_completions(ep);
}

void tcp_recv_complete(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		       uint32_t len, uint32_t imm)
{
	sock_recvq_complete(&ep->rq, opcode, status, len, imm);
	tcp_ep_list_completions(ep);
}

int tcp_completions_take(struct tcp_ep *ep, struct tp_wc *wc, int n)
{
	int got = sock_sends_take(&ep->sq.q, ep->sq.wr, sizeof(*ep->sq.wr),
				  &ep->ep, wc, n);

	return got + sock_recvq_take(&ep->rq, &ep->ep, wc + got, n - got);
}

void tcp_pulse_resume(struct tcp_cq *cq)
{
	const struct tcp_dev *dev = container_of(cq->sock.cq.dev,
						 struct tcp_dev, dev);
	uint64_t ms = dev->dead_peer_ms / TCP_PULSE_BEATS;

	if (!cq->pulse.at)
		sock_timer_set(&cq->sock, &cq->pulse,
			       clock_after_ms(ms ? ms : 1));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_pulse.c - notices hosts that went silent while data was under way to
 * them: the kernel by itself would try for a quarter of an hour.  A host that
 * answers is alive, even when its program does not read for a long time.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "tcp.h"

#define BEATS 4u /* looks in dead_peer_ms */

static unsigned int dead_ms(const struct tcp_cq *cq)
{
	return container_of(cq->sock.cq.dev, struct tcp_dev, dev)->dead_peer_ms;
}

static void set_next(struct tcp_cq *cq)
{
	uint64_t ms = dead_ms(cq) / BEATS;

	sock_timer_set(&cq->sock, &cq->pulse, clock_after_ms(ms ? ms : 1));
}

/* One try may just be on its way; when there was another, it was in vain. */
bool tcp_pulse_gone(const struct tcp_info *info, unsigned int ms)
{
	return (info->tcpi_retransmits > 1 || info->tcpi_probes > 1) &&
	       info->tcpi_last_ack_recv > ms && info->tcpi_last_data_recv > ms;
}

static void look_at(struct tcp_ep *ep)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(ep->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	    tcp_pulse_gone(&info, dead_ms(ep->cq)))
		tcp_ep_lost(ep, -ETIMEDOUT);
}

static void beat(struct sock_timer *timer)
{
	struct tcp_cq *cq = container_of(timer, struct tcp_cq, pulse);
	struct tcp_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->open); ep; ep = next) {
		next = TAILQ_NEXT(ep, open_link);
		if (ep->state == TCP_EP_UP)
			look_at(ep);
	}
	if (!TAILQ_EMPTY(&cq->open))
		set_next(cq);
}

void tcp_pulse_init(struct tcp_cq *cq)
{
	TAILQ_INIT(&cq->open);
	cq->pulse.fire = beat;
}

void tcp_pulse_join(struct tcp_ep *ep)
{
	if (TAILQ_EMPTY(&ep->cq->open))
		set_next(ep->cq);
	TAILQ_INSERT_TAIL(&ep->cq->open, ep, open_link);
}

void tcp_pulse_leave(struct tcp_ep *ep)
{
	TAILQ_REMOVE(&ep->cq->open, ep, open_link);
	if (TAILQ_EMPTY(&ep->cq->open))
		sock_timer_clear(&ep->cq->sock, &ep->cq->pulse);
}

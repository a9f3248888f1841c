/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_pulse.c - detects dead peers.
 *
 * If a host goes silent while data is in flight to it, the kernel alone would retry for a quarter
 * of an hour. An accepting end also detects a dead program whose host still answers.
 *
 * A connecting end stops checking while nothing is in flight, so that its process can sleep.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "common/transport/tcp/tcp.h"

#define ASK_BEATS 2u /* beats without any arrival before PULSE is sent */

/* One retry may just be in flight; more than one means that earlier ones got no answer. */
bool tcp_pulse_gone(const struct tcp_info *info, unsigned int ms)
{
	return (info->tcpi_retransmits > 1 || info->tcpi_probes > 1) &&
	       info->tcpi_last_ack_recv > ms && info->tcpi_last_data_recv > ms;
}

/* Received data is unread because no receive is posted. */
static bool has_unread(const struct tcp_ep *ep)
{
	return ep->rx.readable || ep->rq.paused;
}

static int send_bare(struct tcp_ep *ep, enum tcp_op op)
{
	const struct tcp_frame frame = { .op = op };

	return tcp_tx_small(ep, &frame, NULL, 0);
}

/*
 * The connector's kernel answers even if its program is stopped, or is dead and a child still has
 * the socket open. So after a long silence we ask the program itself. We count our own turns
 * (beats), not time, because our process may have been stopped.
 */
static void check_program(struct tcp_ep *ep)
{
	struct tcp_pulse *p = &ep->pulse;

	p->quiet = p->heard || has_unread(ep) ? 0 : p->quiet + 1;
	p->heard = false;
	if (p->quiet > TCP_PULSE_BEATS && p->asked) {
		tcp_ep_lost_because(
			ep, -ETIMEDOUT,
			"its program does not answer: it is stopped, "
			"or dead and a child has its socket");
	} else if (p->quiet >= ASK_BEATS && !p->asked) {
		p->asked = !send_bare(ep, TCP_OP_PULSE);
	}
}

static void check_peer(struct tcp_ep *ep, const struct tcp_info *info)
{
	if (tcp_pulse_gone(info, tcp_ep_dev(ep)->dead_peer_ms))
		tcp_ep_lost(ep, -ETIMEDOUT);
	else if (ep->pulse.asks)
		check_program(ep);
}

/* Nothing is in flight to the peer. */
static bool all_sent(const struct tcp_ep *ep, const struct tcp_info *info)
{
	return !info->tcpi_unacked && STAILQ_EMPTY(&ep->sq.out) &&
	       STAILQ_EMPTY(&ep->sq.wait);
}

/*
 * Whether ep needs no checks, because all data was acknowledged and no answer is expected.  If the
 * other host fails then, TCP keepalive detects it.
 */
static bool may_rest(const struct tcp_ep *ep, const struct tcp_info *info)
{
	return !ep->pulse.asks && all_sent(ep, info);
}

/*
 * Checks whether the other end of ep is alive.  Returns false if no further checks are needed: all
 * data was acknowledged.
 */
static bool check_ep(struct tcp_ep *ep)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	bool rests;

	if (ep->state != TCP_EP_UP ||
	    getsockopt(ep->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return true;
	rests = may_rest(ep, &info);
	check_peer(ep, &info);
	return !rests;
}

static void check_all(struct sock_timer *timer)
{
	struct tcp_cq *cq = container_of(timer, struct tcp_cq, pulse);
	struct tcp_ep *ep, *next;
	bool again = false;

	for (ep = TAILQ_FIRST(&cq->open); ep; ep = next) {
		next = TAILQ_NEXT(ep, open_link);
		again |= check_ep(ep);
	}
	if (again && !TAILQ_EMPTY(&cq->open))
		tcp_pulse_resume(cq);
}

/* One queued ECHO answers all PULSEs. */
int tcp_pulse_answer(struct tcp_ep *ep)
{
	const struct tcp_tx *tx;

	if (ep->pulse.asks)
		return tcp_rx_refuse(ep, -EPROTO, "a PULSE of a connector");
	STAILQ_FOREACH(tx, &ep->sq.out, link)
		if (tx->op == TCP_OP_ECHO)
			return 0;
	return send_bare(ep, TCP_OP_ECHO)
		       ? tcp_rx_refuse(ep, -ENOMEM, "no memory for an ECHO")
		       : 0;
}

int tcp_pulse_handle_echo(struct tcp_ep *ep)
{
	if (!ep->pulse.asked)
		return tcp_rx_refuse(ep, -EPROTO, "an ECHO of nothing");
	ep->pulse.asked = false;
	return 0;
}

unsigned int tcp_ep_quiet_ms(const struct tp_ep *base)
{
	const struct tcp_ep *ep = (const struct tcp_ep *)base;
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (ep->state != TCP_EP_UP || has_unread(ep) ||
	    getsockopt(ep->fd, IPPROTO_TCP, TCP_INFO, &info, &len) ||
	    !all_sent(ep, &info))
		return 0;
	return info.tcpi_last_data_recv;
}

void tcp_pulse_init(struct tcp_cq *cq)
{
	TAILQ_INIT(&cq->open);
	cq->pulse.fire = check_all;
}

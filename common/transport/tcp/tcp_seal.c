/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_seal.c - switches a connection from unsealed to sealed frames, and ends connections whose
 * received data violates the sealing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"
#include "common/util/log.h"

static int seal_new(struct tcp_ep *ep, struct tcp_seal **out)
{
	const struct tcp_frame frame = { .op = TCP_OP_SEALED };
	struct tcp_seal *seal = calloc(1, sizeof(*seal));
	struct tcp_tx *tx = tcp_tx_new(ep->cq, TCP_HEAD_LEN + ep->check_len, 0);

	if (!seal || !tx || records_in_open(&seal->in, &seal->first) ||
	    records_out_open(&seal->out)) {
		if (tx)
			tcp_tx_free(ep->cq, tx);
		if (seal)
			records_in_free(&seal->in);
		free(seal);
		return -ENOMEM;
	}
	tx->op = TCP_OP_SEALED;
	tcp_frame_put(tx->head, &frame);
	tcp_tx_check(ep, tx);
	STAILQ_INSERT_TAIL(&ep->sq.wait, tx, link);
	seal->mark = tx;
	*out = seal;
	return 0;
}

/* Whether unsealed data arrived, in whole or in part, that was not processed yet. */
static bool has_unsealed(const struct tcp_ep *ep)
{
	return ep->rq.head != ep->rq.done || ep->rx.landing;
}

int tcp_ep_seal(struct tp_ep *base, struct sealer *sealer, unsigned int behind)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);
	int rc = -EALREADY;

	if (ep->state != TCP_EP_UP)
		rc = -ENOTCONN;
	else if (!ep->seal && (behind || has_unsealed(ep)))
		rc = tcp_seal_break(ep, TP_FLAW_BARE);
	else if (!ep->seal)
		rc = seal_new(ep, &ep->seal);
	if (rc) {
		sealer_free(sealer);
		return rc;
	}
	ep->seal->sealer = sealer;
	tcp_ep_mark_dirty(ep);
	tcp_ep_mark_ready(ep); /* the peer's SEALED may wait for this */
	return 0;
}

/*
 * A connector may receive SEALED before its caller has requested sealing; then it waits (-EAGAIN).
 * An acceptor requests sealing before the peer can send SEALED.
 */
int tcp_seal_start(struct tcp_ep *ep)
{
	if (ep->seal)
		return 0;
	return ep->pulse.asks
		       ? tcp_rx_refuse(ep, -EPROTO,
				       "SEALED, but this end does not seal")
		       : -EAGAIN;
}

/* The bytes that were read ahead belong to the first record. */
void tcp_seal_complete(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	struct records_in *in = &ep->seal->in;
	struct records_window *w = &ep->seal->first;
	uint32_t have = rx->end - rx->at, room;

	memcpy(records_in_room(in, w, &room), rx->stage + rx->at, have);
	records_in_add(in, have);
	free(rx->stage);
	rx->stage = in->buf;
	rx->at = w->at;
	rx->end = w->end;
	ep->seal->in_on = true;
}

/* Log at a limited rate: anyone on the network can trigger this repeatedly. */
static void count_flaw(struct tcp_ep *ep, enum tp_flaw flaw)
{
	struct tcp_dev *dev = tcp_ep_dev(ep);
	uint64_t n = atomic_fetch_add(&dev->flaws[flaw], 1) + 1;
	bool due;

	pthread_mutex_lock(&dev->flaw_lock);
	due = log_pace(&dev->flaw_at);
	pthread_mutex_unlock(&dev->flaw_lock);
	if (due)
		log_warn(ep->ep.dev->log,
			 "%s: sealed connection ended: %s (%llu so far): "
			 "an attacker, a network card or a switch changes "
			 "data between the two hosts; check the network path "
			 "(docs/trust.md)",
			 ep->peer, tp_flaw_text(flaw), (unsigned long long)n);
}

int tcp_seal_break(struct tcp_ep *ep, enum tp_flaw flaw)
{
	count_flaw(ep, flaw);
	tcp_sock_reset_on_close(ep->fd);
	tcp_ep_break(ep, -EBADMSG, 0);
	return -EBADMSG;
}

void tcp_seal_check_end(struct tcp_ep *ep)
{
	if (tcp_receives_records(ep) &&
	    (records_in_begun(&ep->seal->in) || ep->rx.landing))
		count_flaw(ep, TP_FLAW_CUT);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_seal.h - a sealed connection. In each direction, a frame SEALED is the last unsealed one. The
 * bytes of all later frames are sent in records (records.h); a frame may span several records.
 */
#ifndef TCP_SEAL_H
#define TCP_SEAL_H

#include "common/transport/tcp/seal/records.h"
#include "common/transport/tcp/tcp_ep.h"

struct tcp_seal {
	struct sealer *sealer;
	const struct tcp_tx *mark; /* our SEALED, until it was sent */
	bool in_on; /* the peer's SEALED was received */
	struct records_in in;
	struct records_window first; /* empty: nothing is opened yet */
	struct records_out out;
};

/* tcp_seal.c */
int tcp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);
void tcp_seal_free(struct tcp_ep *ep);
/*
 * tcp_seal_begin(): a frame SEALED begins; 0, -EAGAIN: wait for tcp_ep_seal(), or the ep was
 * broken. tcp_seal_began(): the frame is complete: from now on the socket delivers records.
 */
int tcp_seal_begin(struct tcp_ep *ep);
void tcp_seal_began(struct tcp_ep *ep);
/* Ends the connection because of received data; returns -EBADMSG. */
int tcp_seal_broken(struct tcp_ep *ep, enum tp_flaw flaw);
/* The peer ended the connection: counts TP_FLAW_CUT if a record or frame was incomplete. */
void tcp_seal_ended(struct tcp_ep *ep);

/* tcp_sealed.c */
static inline bool tcp_sealed_out(const struct tcp_ep *ep)
{
	return ep->seal && !ep->seal->mark;
}
static inline bool tcp_sealed_in(const struct tcp_ep *ep)
{
	return ep->seal && ep->seal->in_on;
}
/* As tcp_flush(). */
void tcp_sealed_flush(struct tcp_ep *ep);
/* Sends a last frame, if nothing else is in flight. False: it cannot be sent. */
bool tcp_sealed_last(struct tcp_ep *ep, const void *frame, uint32_t len);
/* Whether tcp_sealed_fill() would succeed without reading the socket. */
bool tcp_sealed_ready(const struct tcp_ep *ep);
/*
 * Opens the next record, or reads bytes towards it. Returns as recv(), but -errno. *drained: the
 * socket has no more for now.
 */
ssize_t tcp_sealed_fill(struct tcp_ep *ep, bool *drained);

#endif

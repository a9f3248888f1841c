/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_seal.h - a sealed connection.  In each direction a frame SEALED is the last that is
 * bare; the bytes of all frames behind it come in records (records.h), cut anywhere.
 */
#ifndef TCP_SEAL_H
#define TCP_SEAL_H

#include "common/transport/tcp/seal/records.h"
#include "common/transport/tcp/tcp_ep.h"

struct tcp_seal {
	struct sealer *sealer;
	const struct tcp_tx *mark; /* our SEALED, until it was sent */
	bool in_on; /* the peer's came */
	struct records_in in;
	struct records_window first; /* nothing is opened yet */
	struct records_out out;
};

/* tcp_seal.c */
int tcp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);
void tcp_seal_free(struct tcp_ep *ep);
/* SEALED came, or all of it has: from now on what is read is records. */
int tcp_seal_begin(struct tcp_ep *ep);
void tcp_seal_began(struct tcp_ep *ep);
/* Ends the connection for what came; returns -EBADMSG. */
int tcp_seal_broken(struct tcp_ep *ep, enum tp_flaw flaw);
/* The peer's end of the connection: was it in the middle of something? */
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
/* A last frame, when there is nothing else under way.  False: it cannot be sent. */
bool tcp_sealed_last(struct tcp_ep *ep, const void *frame, uint32_t len);
/* Whether tcp_sealed_fill() would find something without the socket. */
bool tcp_sealed_ready(const struct tcp_ep *ep);
/* The next record, or bytes towards it: as recv(), but -errno; *drained: no more for
 * now. */
ssize_t tcp_sealed_fill(struct tcp_ep *ep, bool *drained);

#endif

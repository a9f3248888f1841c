/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pending.h - connection events of a cq that wait to be taken.  Each is part
 * of the object that it is about, so that queueing one cannot fail.
 */
#ifndef PENDING_H
#define PENDING_H

#include <sys/queue.h>

#include "common/transport/transport.h"

/* What a connector or an acceptor says. */
struct tp_private {
	unsigned int len;
	uint8_t data[TP_PRIVATE_MAX];
};

struct tp_pending {
	TAILQ_ENTRY(tp_pending) link;
	struct tp_ep *ep; /* or */
	struct tp_conn_req *req;
	struct tp_listener *listener; /* of req */
	struct tp_srq *srq; /* or */
	const struct tp_private *priv; /* of the peer; NULL: srq has none */
	enum tp_event_type type;
	int status;
	bool queued;
};
TAILQ_HEAD(tp_pendings, tp_pending);

/* len is at most TP_PRIVATE_MAX. */
void tp_private_set(struct tp_private *priv, const void *data,
		    unsigned int len);

void tp_pending_queue(struct tp_pendings *events, struct tp_pending *ev,
		      enum tp_event_type type, int status);
void tp_pending_drop(struct tp_pendings *events, struct tp_pending *ev);
/* The oldest goes into out; NULL: there is none. */
struct tp_pending *tp_pending_take(struct tp_pendings *events,
				   struct tp_event *out);

#endif

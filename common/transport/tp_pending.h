/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_pending.h - the queue of connection events that the caller of a cq has not taken yet. An event
 * is part of the object that it is about, so queueing needs no memory and cannot fail.
 */
#ifndef TP_PENDING_H
#define TP_PENDING_H

#include <sys/queue.h>

#include "common/transport/transport.h"

/* The private data of a connector or an acceptor. */
struct tp_private {
	unsigned int len;
	uint8_t data[TP_PRIVATE_MAX];
};

struct tp_pending {
	TAILQ_ENTRY(tp_pending) link;
	struct tp_ep *ep; /* the object that the event is about: ep, */
	struct tp_conn_req *req;
	struct tp_listener *listener; /* ... or req and its listener, */
	struct tp_srq *srq; /* ... or srq */
	const struct tp_private *priv; /* the peer's private data; NULL for srq */
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
/* Removes the oldest event and copies it to out. Returns NULL if there is no event. */
struct tp_pending *tp_pending_take(struct tp_pendings *events,
				   struct tp_event *out);

#endif

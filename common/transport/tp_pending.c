/* SPDX-License-Identifier: BSD-2-Clause */
/* tp_pending.c - connection events of a cq that the caller has not taken yet. */
#include "common/transport/tp_pending.h"

#include <string.h>

void tp_private_set(struct tp_private *priv, const void *data, unsigned int len)
{
	priv->len = len;
	if (len)
		memcpy(priv->data, data, len);
}

void tp_pending_queue(struct tp_pendings *events, struct tp_pending *ev,
		      enum tp_event_type type, int status)
{
	ev->type = type;
	ev->status = status;
	ev->queued = true;
	TAILQ_INSERT_TAIL(events, ev, link);
}

void tp_pending_drop(struct tp_pendings *events, struct tp_pending *ev)
{
	if (!ev->queued)
		return;
	ev->queued = false;
	TAILQ_REMOVE(events, ev, link);
}

struct tp_pending *tp_pending_take(struct tp_pendings *events,
				   struct tp_event *out)
{
	struct tp_pending *ev = TAILQ_FIRST(events);

	if (!ev)
		return NULL;
	tp_pending_drop(events, ev);
	*out = (struct tp_event){ .type = ev->type,
				  .status = ev->status,
				  .ep = ev->ep,
				  .listener = ev->listener,
				  .req = ev->req,
				  .srq = ev->srq };
	if (ev->priv && ev->type != TP_EV_DISCONNECTED) {
		out->priv_len = ev->priv->len;
		memcpy(out->priv, ev->priv->data, ev->priv->len);
	}
	return ev;
}

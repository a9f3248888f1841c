/* SPDX-License-Identifier: BSD-2-Clause */
/* local_event.c - connection events, queued in the objects they are about. */
#include <string.h>

#include "local.h"

void local_event_queue(struct local_cq *cq, struct local_event *ev,
		       enum tp_event_type type, int status)
{
	ev->type = type;
	ev->status = status;
	ev->queued = true;
	TAILQ_INSERT_TAIL(&cq->events, ev, link);
}

void local_event_drop(struct local_cq *cq, struct local_event *ev)
{
	if (!ev->queued)
		return;
	ev->queued = false;
	TAILQ_REMOVE(&cq->events, ev, link);
}

static void fill_req(struct tp_event *out, struct local_req *req)
{
	out->listener = &req->listener->listener;
	out->req = &req->req;
	out->priv_len = req->hello.priv_len;
	memcpy(out->priv, req->hello.priv, req->hello.priv_len);
	local_req_taken(req);
}

static void fill_ep(struct tp_event *out, struct local_ep *ep)
{
	out->ep = &ep->ep;
	if (out->type == TP_EV_DISCONNECTED)
		return;
	out->priv_len = ep->priv_len;
	memcpy(out->priv, ep->priv, ep->priv_len);
}

int local_cq_event(struct tp_cq *base, struct tp_event *out)
{
	struct local_cq *cq = container_of(base, struct local_cq, cq);
	struct local_event *ev = TAILQ_FIRST(&cq->events);

	if (!ev)
		return 0;
	local_event_drop(cq, ev);
	memset(out, 0, sizeof(*out));
	out->type = ev->type;
	out->status = ev->status;
	if (ev->req)
		fill_req(out, ev->req);
	else
		fill_ep(out, ev->ep);
	return 1;
}

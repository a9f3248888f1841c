/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_event.c - connection events, queued in the objects they are about. */
#include <string.h>

#include "verbs.h"

void vb_event_queue(struct vb_cq *cq, struct vb_event *ev,
		    enum tp_event_type type, int status)
{
	ev->type = type;
	ev->status = status;
	ev->queued = true;
	TAILQ_INSERT_TAIL(&cq->events, ev, link);
}

void vb_event_drop(struct vb_cq *cq, struct vb_event *ev)
{
	if (!ev->queued)
		return;
	ev->queued = false;
	TAILQ_REMOVE(&cq->events, ev, link);
}

static void fill_req(struct tp_event *out, struct vb_req *req)
{
	out->listener = &req->listener->listener;
	out->req = &req->req;
	out->priv_len = req->priv_len;
	memcpy(out->priv, req->priv, req->priv_len);
	req->listener = NULL;
}

static void fill_ep(struct tp_event *out, struct vb_ep *ep)
{
	out->ep = &ep->ep;
	if (out->type == TP_EV_DISCONNECTED)
		return;
	out->priv_len = ep->priv_len;
	memcpy(out->priv, ep->priv, ep->priv_len);
}

int vb_cq_event(struct tp_cq *base, struct tp_event *out)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_event *ev = TAILQ_FIRST(&cq->events);

	if (!ev)
		return 0;
	vb_event_drop(cq, ev);
	memset(out, 0, sizeof(*out));
	out->type = ev->type;
	out->status = ev->status;
	if (ev->req)
		fill_req(out, ev->req);
	else
		fill_ep(out, ev->ep);
	return 1;
}

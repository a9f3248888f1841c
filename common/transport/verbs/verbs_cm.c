/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_cm.c - passes events of the connection manager to the objects concerned. */
#include "common/transport/verbs/verbs.h"

/* The connector or the device is gone: an accept would fail. */
static void req_event(struct vb_req *req, const struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_ESTABLISHED)
		req->dead = true;
}

static bool is_end(const struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_DISCONNECTED ||
	       event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT ||
	       event->event == RDMA_CM_EVENT_REJECTED ||
	       event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

/* Returns bye if the event ends it and no queue pair still needs it. */
static struct vb_bye *bye_event(struct vb_bye *bye,
				const struct rdma_cm_event *event)
{
	return is_end(event) && !bye->qp ? bye : NULL;
}

/* Returns a bye that has ended; the caller frees it after it acknowledged the event. */
static struct vb_bye *dispatch(struct vb_cq *cq, struct rdma_cm_event *event)
{
	struct vb_tag *tag;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		vb_request(cq, event);
		return NULL;
	}
	tag = event->id->context;
	switch (tag->kind) {
	case VB_EP:
		vb_connect_event(container_of(tag, struct vb_ep, tag), event);
		break;
	case VB_REQ:
		req_event(container_of(tag, struct vb_req, tag), event);
		break;
	case VB_LISTENER:
		if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			log_error(cq->cq.dev->log, "verbs: the RDMA device "
						   "was removed: nobody can "
						   "connect over verbs; when "
						   "it is back, restart");
		break;
	case VB_BYE:
		return bye_event(container_of(tag, struct vb_bye, tag), event);
	}
	return NULL;
}

static bool one_event(struct vb_cq *cq)
{
	struct rdma_cm_event *event;
	struct vb_bye *over;

	if (rdma_get_cm_event(cq->cm, &event))
		return false;
	over = dispatch(cq, event);
	rdma_ack_cm_event(event);
	if (over)
		vb_bye_end(over);
	return true;
}

void vb_cm_events(struct vb_cq *cq)
{
	struct vb_dev *d = vb_dev(cq->cq.dev);

	pthread_mutex_lock(&d->lock);
	while (one_event(cq))
		;
	pthread_mutex_unlock(&d->lock);
}

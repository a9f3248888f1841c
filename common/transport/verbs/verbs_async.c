/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_async.c - asynchronous events of the device. Every cq has the descriptor in its epoll set.
 * The thread that reads an event stores the result in the object concerned and wakes that object's
 * thread.
 */
#include <errno.h>

#include "common/transport/verbs/verbs.h"

static void wake_owner(struct vb_cq *cq)
{
	atomic_store(&cq->poked, true);
	vb_cq_wake(&cq->cq);
}

/* The queue pair exists until the event is acknowledged; its ep may be closed already. */
static void qp_event(const struct ibv_async_event *event, int status)
{
	struct vb_ep *ep = event->element.qp->qp_context;

	if (!ep)
		return;
	atomic_store(&ep->async, status);
	wake_owner(ep->cq);
}

static void all_break(struct vb_dev *d, int status)
{
	struct vb_cq *cq;

	LIST_FOREACH(cq, &d->cqs, link) {
		atomic_store(&cq->trouble, status);
		wake_owner(cq);
	}
}

static void device_gone(struct vb_dev *d)
{
	log_error(d->dev.log, "verbs: %s failed or was removed",
		  ibv_get_device_name(d->ctx->device));
	all_break(d, -ENODEV);
}

/*
 * A port went down or up. If there is only one device, its connections survive a short outage. If
 * there are several, the device breaks its connections immediately, so that others are used.
 */
static void port_event(struct vb_dev *d, const struct ibv_async_event *event)
{
	const char *name = ibv_get_device_name(d->ctx->device);

	if (event->element.port_num != d->port)
		return;
	log_warn(d->dev.log, "verbs: %s port %u: %s", name, d->port,
		 ibv_event_type_str(event->event_type));
	if (event->event_type == IBV_EVENT_PORT_ERR) {
		if (d->several)
			all_break(d, -ENETDOWN);
		return;
	}
	if (!vb_port_requery(d)) {
		log_warn(d->dev.log,
			 "verbs: %s port %u: its address has changed: "
			 "connections are made again",
			 name, d->port);
		all_break(d, -ECONNRESET);
	}
}

static void cq_event(struct vb_dev *d, const struct ibv_async_event *event)
{
	struct vb_cq *cq = event->element.cq->cq_context;

	log_error(d->dev.log, "verbs: a completion queue failed: completions "
			      "are lost, its connections end");
	atomic_store(&cq->trouble, -EIO);
	wake_owner(cq);
}

static void srq_low(const struct ibv_async_event *event)
{
	struct vb_srq *s = event->element.srq->srq_context;

	atomic_store(&s->is_low, true);
	wake_owner(s->cq);
}

static void srq_failed(struct vb_dev *d, const struct ibv_async_event *event)
{
	struct vb_srq *s = event->element.srq->srq_context;

	log_error(d->dev.log, "verbs: a shared receive queue failed: its "
			      "connections end");
	atomic_store(&s->cq->trouble, -EIO);
	wake_owner(s->cq);
}

static void handle_event(struct vb_dev *d, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
		qp_event(event, -EIO);
		break;
	case IBV_EVENT_QP_REQ_ERR:
		qp_event(event, -ECONNRESET);
		break;
	case IBV_EVENT_QP_ACCESS_ERR:
		qp_event(event, -EACCES);
		break;
	case IBV_EVENT_CQ_ERR:
		cq_event(d, event);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		device_gone(d);
		break;
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		port_event(d, event);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq_low(event);
		break;
	case IBV_EVENT_SRQ_ERR:
		srq_failed(d, event);
		break;
	default: /* path migration, queue drained */
		break;
	}
}

void vb_async_events(struct vb_cq *cq)
{
	struct vb_dev *d = vb_dev(cq->cq.dev);
	struct ibv_async_event event;

	pthread_mutex_lock(&d->lock);
	while (ibv_get_async_event(d->ctx, &event) == 0) {
		handle_event(d, &event);
		ibv_ack_async_event(&event);
	}
	pthread_mutex_unlock(&d->lock);
}

void vb_async_apply(struct vb_cq *cq)
{
	int all = atomic_exchange(&cq->trouble, 0), status;
	struct vb_ep *ep;

	if (cq->srq)
		vb_srq_check_limit(cq->srq);
	TAILQ_FOREACH(ep, &cq->eps, link) {
		status = atomic_exchange(&ep->async, 0);
		if (ep->state != VB_IDLE && (status || all))
			vb_ep_break(ep, status ?: all);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_connect.c - an endpoint becomes a connection. The connector resolves address and route,
 * then sends its request. The acceptor prepares its queue pair before it answers. Receives posted
 * earlier are available from the first moment. Events of the connection manager come in here.
 *
 *   CONNECTING --CONNECT_RESPONSE--> OPEN         ACCEPTED --ESTABLISHED,
 *        \--deadline, error, REJECTED--> BROKEN       or a message--> OPEN
 */
#include <errno.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

#define RESOLVE_MS 2000
#define READS_MAX 16u /* outstanding RDMA Reads and atomics */
#define REJ_NO_SERVICE 8 /* InfiniBand's reject reasons, in event->status */
#define REJ_CONSUMER 28

static uint8_t reads_limit(int device, unsigned int other)
{
	unsigned int n = device < 0 ? 0 : (unsigned int)device;

	n = n < READS_MAX ? n : READS_MAX;
	return (uint8_t)(n < other ? n : other);
}

static struct rdma_conn_param conn_params(struct vb_ep *ep, unsigned int in,
					  unsigned int out)
{
	const struct ibv_device_attr *attr = &vb_dev(ep->ep.dev)->attr;
	struct rdma_conn_param p = {
		.private_data = &ep->frame,
		.private_data_len = sizeof(ep->frame),
		.responder_resources = reads_limit(attr->max_qp_rd_atom, in),
		.initiator_depth = reads_limit(attr->max_qp_init_rd_atom, out),
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.srq = ep->srq != NULL,
		.qp_num = ep->qp_num,
	};

	return p;
}

/* The route to the peer must use the device that memory is registered with. */
static int check_device(struct vb_ep *ep)
{
	const struct vb_dev *d = vb_dev(ep->ep.dev);
	const char *have = ibv_get_device_name(d->ctx->device);
	const char *want = ibv_get_device_name(ep->id->verbs->device);

	if (!strcmp(have, want))
		return 0;
	log_error(vb_log(ep),
		  "%s: the way there leaves by %s, but this process uses %s: "
		  "choose the device, or correct the route",
		  ep->peer, want, have);
	return -EHOSTUNREACH;
}

static int send_request(struct vb_ep *ep)
{
	struct rdma_conn_param p;
	int rc = vb_qp_create(ep);

	if (rc)
		return rc;
	p = conn_params(ep, READS_MAX, READS_MAX);
	return rdma_connect(ep->id, &p) ? -errno : 0;
}

static int response_received(struct vb_ep *ep,
			     const struct rdma_conn_param *param)
{
	int rc;

	if (!vb_frame_read(param, &ep->priv)) {
		log_error(vb_log(ep), "%s: does not speak this protocol",
			  ep->peer);
		return -EPROTO;
	}
	rc = vb_qp_ready(ep);
	if (!rc && rdma_establish(ep->id))
		rc = -errno;
	if (!rc)
		vb_ep_established(ep);
	return rc;
}

static void request_rejected(struct vb_ep *ep,
			     const struct rdma_cm_event *event)
{
	if (ep->state == VB_CONNECTING && event->status == REJ_CONSUMER &&
	    vb_frame_read(&event->param.conn, &ep->priv)) {
		vb_ep_end_rejected(ep);
		return;
	}
	log_debug(vb_log(ep), "%s: refused (reason %d)%s", ep->peer,
		  event->status,
		  event->status == REJ_NO_SERVICE ? ": nobody listens" : "");
	vb_ep_break(ep, ep->state == VB_CONNECTING &&
					event->status == REJ_NO_SERVICE
				? -ECONNREFUSED
				: -ECONNRESET);
}

static int unreachable_status(const struct rdma_cm_event *event)
{
	return event->status == -ETIMEDOUT ? -ETIMEDOUT : -EHOSTUNREACH;
}

/* A disconnect is handled after all completions that precede it: see leave(). */
static void peer_disconnected(struct vb_ep *ep)
{
	ep->gone = true;
	if (ep->is_leaving || ep->state == VB_BROKEN)
		return;
	ep->is_leaving = true;
	TAILQ_INSERT_TAIL(&ep->cq->leaving, ep, leave_link);
}

static void ep_event(struct vb_ep *ep, struct rdma_cm_event *event)
{
	int rc = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rc = check_device(ep);
		if (!rc && rdma_resolve_route(ep->id, RESOLVE_MS))
			rc = -errno;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rc = send_request(ep);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		rc = response_received(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		vb_ep_established(ep);
		break;
	case RDMA_CM_EVENT_REJECTED:
		request_rejected(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		log_debug(vb_log(ep), "%s: %s (%d)", ep->peer,
			  rdma_event_str(event->event), event->status);
		rc = unreachable_status(event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		peer_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		log_error(vb_log(ep), "%s: the RDMA device was removed",
			  ep->peer);
		rc = -ENODEV;
		break;
	default:
		break;
	}
	if (rc && ep->state != VB_BROKEN) {
		log_debug(vb_log(ep), "%s: not connected (error %d)", ep->peer,
			  -rc);
		vb_ep_break(ep, rc);
	}
}

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

/* Returns a remnant that has ended; the caller ends it after it acknowledged the event. */
static struct vb_remnant *dispatch_event(struct vb_cq *cq,
					 struct rdma_cm_event *event)
{
	struct vb_remnant *rest;
	struct vb_tag *tag;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		vb_listener_request(cq, event);
		return NULL;
	}
	tag = event->id->context;
	switch (tag->kind) {
	case VB_EP:
		ep_event(container_of(tag, struct vb_ep, tag), event);
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
	case VB_REMNANT:
		rest = container_of(tag, struct vb_remnant, tag);
		/* a queue pair needs the id until its deadline */
		return is_end(event) && !rest->qp ? rest : NULL;
	}
	return NULL;
}

static bool one_event(struct vb_cq *cq)
{
	struct rdma_cm_event *event;
	struct vb_remnant *over;

	if (rdma_get_cm_event(cq->cm, &event))
		return false;
	over = dispatch_event(cq, event);
	rdma_ack_cm_event(event);
	if (over)
		vb_remnant_end(over);
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

/*
 * A configured GID is the source address of connections. Each of several devices uses its own
 * address.
 */
static struct sockaddr *source_address(struct vb_dev *d,
				       const struct sockaddr_storage *to)
{
	if ((!*d->want_gid && !d->several) || d->sa.ss_family != to->ss_family)
		return NULL;
	return (struct sockaddr *)&d->sa;
}

static int resolve_start(struct vb_ep *ep, const struct addr *addr)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);
	struct sockaddr_storage sa;
	uint8_t tos = ep->bulk && d->bulk_tos >= 0 ? (uint8_t)d->bulk_tos
						   : d->tos;
	bool local;
	int rc = vb_resolve(d, ep->ep.hushed ? NULL : d->dev.log, addr, &sa,
			    &local);

	if (rc)
		return rc;
	if (rdma_create_id(ep->cq->cm, &ep->id, &ep->tag, RDMA_PS_TCP))
		return -errno;
	if (tos)
		rdma_set_option(ep->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
				&tos, sizeof(tos));
	if (rdma_resolve_addr(ep->id, source_address(d, &sa),
			      (struct sockaddr *)&sa, RESOLVE_MS))
		return -errno;
	return 0;
}

int vb_connect(struct tp_ep *base, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline)
{
	struct vb_ep *ep = vb_ep(base);
	int rc;

	if (ep->state != VB_IDLE || len > TP_PRIVATE_MAX)
		return -EINVAL;
	if (vb_dev(base->dev)->several && !vb_port_is_up(vb_dev(base->dev)))
		return -ENETDOWN;
	snprintf(ep->peer, sizeof(ep->peer), "verbs %s:%u", addr->host,
		 addr->port);
	vb_frame_fill(&ep->frame, priv, len);
	rc = resolve_start(ep, addr);
	if (rc && !ep->id)
		return rc;
	ep->state = VB_CONNECTING;
	ep->deadline = deadline;
	vb_cq_set_timer(ep->cq, deadline);
	if (rc)
		vb_ep_break(ep, rc);
	return 0;
}

/* Moves the id of req to ep and its cq. */
static int take_over(struct vb_ep *ep, struct vb_req *req)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	ep->id = req->id;
	ep->id->context = &ep->tag;
	if (req->dead)
		rc = -ECONNRESET;
	else if (ep->cq != req->cq && rdma_migrate_id(ep->id, ep->cq->cm))
		rc = -errno;
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static int send_accept(struct vb_ep *ep, const struct vb_req *req)
{
	struct rdma_conn_param p;
	int rc = vb_qp_create(ep);

	if (!rc)
		rc = vb_qp_ready(ep);
	if (rc)
		return rc;
	p = conn_params(ep, req->reads_in, req->reads_out);
	if (rdma_accept(ep->id, &p))
		return -errno;
	ep->connected = true;
	return 0;
}

int vb_accept(struct tp_ep *base, struct tp_conn_req *tp_req, const void *priv,
	      unsigned int len)
{
	struct vb_req *req = container_of(tp_req, struct vb_req, req);
	struct vb_ep *ep = vb_ep(base);
	int rc;

	if (ep->state != VB_IDLE || len > TP_PRIVATE_MAX) {
		vb_reject(tp_req, NULL, 0);
		return -EINVAL;
	}
	memcpy(ep->peer, req->peer, sizeof(ep->peer));
	vb_frame_fill(&ep->frame, priv, len);
	ep->state = VB_ACCEPTED;
	ep->deadline = clock_after_ms(vb_dev(ep->ep.dev)->handshake_ms);
	vb_cq_set_timer(ep->cq, ep->deadline);
	rc = take_over(ep, req);
	if (!rc)
		rc = send_accept(ep, req);
	if (rc) {
		log_debug(vb_log(ep), "%s: cannot accept (error %d)", ep->peer,
			  -rc);
		vb_ep_break(ep, -ECONNRESET);
	}
	vb_req_free(req);
	return 0;
}

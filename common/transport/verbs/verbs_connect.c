/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_connect.c - an endpoint becomes a connection. The connector resolves address and route,
 * then sends its request. The acceptor prepares its queue pair before it answers. Receives posted
 * earlier are available from the first moment.
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

void vb_frame_fill(struct vb_frame *f, const void *priv, unsigned int len)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->magic, "PV", 2);
	f->version = 1;
	f->len = (uint8_t)len;
	if (len)
		memcpy(f->data, priv, len);
}

bool vb_frame_read(const struct rdma_conn_param *param, struct tp_private *priv)
{
	const struct vb_frame *f = param->private_data;

	if (!f || param->private_data_len < sizeof(*f) ||
	    memcmp(f->magic, "PV", 2) || f->version != 1 ||
	    f->len > TP_PRIVATE_MAX)
		return false;
	tp_private_set(priv, f->data, f->len);
	return true;
}

static uint8_t reads(int device, unsigned int other)
{
	unsigned int n = device < 0 ? 0 : (unsigned int)device;

	n = n < READS_MAX ? n : READS_MAX;
	return (uint8_t)(n < other ? n : other);
}

static struct rdma_conn_param params(struct vb_ep *ep, unsigned int in,
				     unsigned int out)
{
	const struct ibv_device_attr *attr = &vb_dev(ep->ep.dev)->attr;
	struct rdma_conn_param p = {
		.private_data = &ep->frame,
		.private_data_len = sizeof(ep->frame),
		.responder_resources = reads(attr->max_qp_rd_atom, in),
		.initiator_depth = reads(attr->max_qp_init_rd_atom, out),
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.srq = ep->srq != NULL,
		.qp_num = ep->qp_num,
	};

	return p;
}

void vb_established(struct vb_ep *ep)
{
	if (ep->state != VB_CONNECTING && ep->state != VB_ACCEPTED)
		return;
	ep->state = VB_OPEN;
	ep->connected = true;
	ep->deadline = 0;
	ep->beat_at = clock_after_ms(vb_dev(ep->ep.dev)->dead_peer_ms / 3);
	vb_timer(ep->cq, ep->beat_at);
	tp_pending_queue(&ep->cq->events, &ep->opened, TP_EV_ESTABLISHED, 0);
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

static int ask(struct vb_ep *ep)
{
	struct rdma_conn_param p;
	int rc = vb_qp_create(ep);

	if (rc)
		return rc;
	p = params(ep, READS_MAX, READS_MAX);
	return rdma_connect(ep->id, &p) ? -errno : 0;
}

static int answered(struct vb_ep *ep, const struct rdma_conn_param *param)
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
		vb_established(ep);
	return rc;
}

static void refused(struct vb_ep *ep, const struct rdma_cm_event *event)
{
	if (ep->state == VB_CONNECTING && event->status == REJ_CONSUMER &&
	    vb_frame_read(&event->param.conn, &ep->priv)) {
		vb_rejected(ep);
		return;
	}
	log_debug(vb_log(ep), "%s: refused (reason %d)%s", ep->peer,
		  event->status,
		  event->status == REJ_NO_SERVICE ? ": nobody listens" : "");
	vb_break(ep,
		 ep->state == VB_CONNECTING && event->status == REJ_NO_SERVICE
			 ? -ECONNREFUSED
			 : -ECONNRESET);
}

static int unreachable(const struct rdma_cm_event *event)
{
	return event->status == -ETIMEDOUT ? -ETIMEDOUT : -EHOSTUNREACH;
}

/* A disconnect is handled after all completions that precede it: see leave(). */
static void left(struct vb_ep *ep)
{
	ep->gone = true;
	if (ep->is_leaving || ep->state == VB_BROKEN)
		return;
	ep->is_leaving = true;
	TAILQ_INSERT_TAIL(&ep->cq->leaving, ep, leave_link);
}

void vb_connect_event(struct vb_ep *ep, struct rdma_cm_event *event)
{
	int rc = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rc = check_device(ep);
		if (!rc && rdma_resolve_route(ep->id, RESOLVE_MS))
			rc = -errno;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rc = ask(ep);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		rc = answered(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		vb_established(ep);
		break;
	case RDMA_CM_EVENT_REJECTED:
		refused(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		log_debug(vb_log(ep), "%s: %s (%d)", ep->peer,
			  rdma_event_str(event->event), event->status);
		rc = unreachable(event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		left(ep);
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
		vb_break(ep, rc);
	}
}

/*
 * A configured GID is the source address of connections. Each of several devices uses its own
 * address.
 */
static struct sockaddr *source(struct vb_dev *d,
			       const struct sockaddr_storage *to)
{
	if ((!*d->want_gid && !d->several) || d->sa.ss_family != to->ss_family)
		return NULL;
	return (struct sockaddr *)&d->sa;
}

static int start(struct vb_ep *ep, const struct addr *addr)
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
	if (rdma_resolve_addr(ep->id, source(d, &sa), (struct sockaddr *)&sa,
			      RESOLVE_MS))
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
	rc = start(ep, addr);
	if (rc && !ep->id)
		return rc;
	ep->state = VB_CONNECTING;
	ep->deadline = deadline;
	vb_timer(ep->cq, deadline);
	if (rc)
		vb_break(ep, rc);
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

static int answer(struct vb_ep *ep, const struct vb_req *req)
{
	struct rdma_conn_param p;
	int rc = vb_qp_create(ep);

	if (!rc)
		rc = vb_qp_ready(ep);
	if (rc)
		return rc;
	p = params(ep, req->reads_in, req->reads_out);
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
	vb_timer(ep->cq, ep->deadline);
	rc = take_over(ep, req);
	if (!rc)
		rc = answer(ep, req);
	if (rc) {
		log_debug(vb_log(ep), "%s: cannot accept (error %d)", ep->peer,
			  -rc);
		vb_break(ep, -ECONNRESET);
	}
	vb_req_free(req);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_listen.c - listeners, requests until they are accepted or rejected, and the private data of
 * the connection manager's messages.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

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

static int bind_and_listen(struct vb_listener *l, int backlog)
{
	const struct vb_dev *d = vb_dev(l->listener.dev);
	struct sockaddr_storage sa;
	int rc = vb_resolve(d, d->dev.log, &l->addr, &sa, &l->local);

	if (rc)
		return rc;
	if (d->several && d->sa.ss_family)
		vb_own_address(d, l->addr.port, &sa);
	if (rdma_create_id(l->cq->cm, &l->id, &l->tag, RDMA_PS_TCP))
		return -errno;
	if (rdma_bind_addr(l->id, (struct sockaddr *)&sa) ||
	    rdma_listen(l->id, backlog)) {
		rc = -errno;
		rdma_destroy_id(l->id);
		return rc;
	}
	l->addr.port = ntohs(rdma_get_src_port(l->id));
	return 0;
}

static const char *listen_remedy(int rc)
{
	if (rc == -ENODEV || rc == -EADDRNOTAVAIL)
		return ": no RDMA device has that address; see rdma link and "
		       "ip addr, and address in [mgr] or [iod.N]";
	return rc == -EADDRINUSE ? ": another daemon has the port; end that "
				   "one, or change address in [mgr] or [iod.N]"
				 : "";
}

int vb_listen(struct tp_cq *base, const struct addr *addr, int backlog,
	      struct tp_listener **out)
{
	struct vb_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	l->listener.dev = base->dev;
	l->tag.kind = VB_LISTENER;
	l->cq = vb_cq(base);
	l->addr = *addr;
	rc = bind_and_listen(l, backlog);
	if (rc) {
		log_error(base->dev->log,
			  "verbs: cannot listen at %s:%u (error %d)%s",
			  addr->host, addr->port, -rc, listen_remedy(rc));
		free(l);
		return rc;
	}
	*out = &l->listener;
	return 0;
}

void vb_listener_addr(const struct tp_listener *base, struct addr *addr)
{
	*addr = container_of(base, const struct vb_listener, listener)->addr;
	snprintf(addr->scheme, sizeof(addr->scheme), "verbs");
}

void vb_req_free(struct vb_req *req)
{
	free(req);
}

/* Rejects the requests of l that were not reported. */
static void reject_unreported(struct vb_listener *l)
{
	struct tp_pending *ev, *next;

	for (ev = TAILQ_FIRST(&l->cq->events); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (ev->listener != &l->listener)
			continue;
		tp_pending_drop(&l->cq->events, ev);
		vb_reject(ev->req, NULL, 0);
	}
}

void vb_unlisten(struct tp_listener *base)
{
	struct vb_listener *l = container_of(base, struct vb_listener,
					     listener);
	struct vb_dev *d = vb_dev(base->dev);

	reject_unreported(l);
	pthread_mutex_lock(&d->lock);
	rdma_destroy_id(l->id);
	pthread_mutex_unlock(&d->lock);
	free(l);
}

/* A request is welcome if it came by our device and, at a loopback address, from this host. */
static bool is_welcome(const struct vb_listener *l, struct rdma_cm_id *id)
{
	const struct vb_dev *d = vb_dev(l->listener.dev);
	const char *by = ibv_get_device_name(id->verbs->device);

	if (l->local && !vb_is_own_address(d, rdma_get_peer_addr(id))) {
		log_warn(d->dev.log,
			 "verbs: a request from another host at the loopback "
			 "address %s: refused",
			 l->addr.host);
		return false;
	}
	if (!strcmp(by, ibv_get_device_name(d->ctx->device)))
		return true;
	log_error(d->dev.log,
		  "verbs: a request came by %s, but this process uses %s: "
		  "choose the device, or listen at one address",
		  by, ibv_get_device_name(d->ctx->device));
	return false;
}

static struct vb_req *req_new(struct vb_listener *l,
			      const struct rdma_cm_event *event)
{
	const struct vb_dev *d = vb_dev(l->listener.dev);
	struct vb_req *req = calloc(1, sizeof(*req));

	if (!req)
		return NULL;
	req->req.dev = l->listener.dev;
	req->tag.kind = VB_REQ;
	req->cq = l->cq;
	req->id = event->id;
	req->event.req = &req->req;
	req->event.listener = &l->listener;
	req->event.priv = &req->priv;
	req->reads_in = event->param.conn.responder_resources;
	req->reads_out = event->param.conn.initiator_depth;
	vb_peer_name(d, rdma_get_peer_addr(req->id), l->local, req->peer,
		     sizeof(req->peer));
	if (vb_frame_read(&event->param.conn, &req->priv)) {
		req->req.peer = req->peer;
		req->req.priv = req->priv.data;
		req->req.priv_len = req->priv.len;
		return req;
	}
	log_debug(d->dev.log, "%s: does not speak this protocol", req->peer);
	free(req);
	return NULL;
}

/* Called with the device's lock held. Destroys the id of a rejected request. */
void vb_listener_request(struct vb_cq *cq, struct rdma_cm_event *event)
{
	struct vb_tag *tag = event->listen_id->context;
	struct vb_listener *l = container_of(tag, struct vb_listener, tag);
	struct vb_req *req = NULL;

	if (is_welcome(l, event->id))
		req = req_new(l, event);
	if (!req) {
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
		return;
	}
	req->id->context = &req->tag;
	tp_pending_queue(&cq->events, &req->event, TP_EV_CONNECT_REQUEST, 0);
}

void vb_reject(struct tp_conn_req *base, const void *priv, unsigned int len)
{
	struct vb_req *req = container_of(base, struct vb_req, req);
	struct vb_dev *d = vb_dev(base->dev);
	struct vb_frame frame;

	vb_frame_fill(&frame, priv, len);
	pthread_mutex_lock(&d->lock);
	rdma_reject(req->id, &frame, sizeof(frame));
	rdma_destroy_id(req->id);
	pthread_mutex_unlock(&d->lock);
	vb_req_free(req);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_qp.c - the queue pair: creation, state changes, receives, destruction. */
#include <errno.h>

#include "common/transport/verbs/verbs.h"

#define RETRIES 7u
#define RNR_FOREVER 7u

/*
 * How long a sender waits if the receiver has no posted receive: 0.64 ms. The default of rdma_cm,
 * 0, means 655 ms. An endpoint with receives of its own, and credits, never waits for this timer.
 * With shared receives, many senders may have to.
 */
#define RNR_TIMER 12u
#define TIMEOUT_MIN 8u
#define TIMEOUT_MAX 18u

#define ACCESS                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |                     \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/*
 * Returns the timeout t of the queue pair: eight tries of 4.096 us * 2^t must fit into
 * dead_peer_ms.
 */
static uint8_t ack_timeout(const struct vb_dev *d)
{
	unsigned int t = TIMEOUT_MIN;

	while (t < TIMEOUT_MAX && (4096ull << (t + 1)) * (RETRIES + 1) <=
					  d->dead_peer_ms * CLOCK_NS_PER_MS)
		t++;
	return (uint8_t)t;
}

static int to_init(struct vb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	if (rdma_init_qp_attr(ep->id, &attr, &mask))
		return -errno;
	attr.qp_access_flags = ACCESS;
	return -ibv_modify_qp(ep->qp, &attr, mask | IBV_QP_ACCESS_FLAGS);
}

int vb_qp_post_recv(struct vb_ep *ep, const struct vb_recv *r, uint64_t number)
{
	struct ibv_sge sge = { (uintptr_t)r->sge.addr, r->sge.len,
			       r->sge.lkey };
	struct ibv_recv_wr wr = {
		.wr_id = vb_wr_id(ep, number) | VB_MARK_RECV,
		.sg_list = &sge,
		.num_sge = sge.length > 0,
	}, *bad;

	return -ibv_post_recv(ep->qp, &wr, &bad);
}

static int post_receives(struct vb_ep *ep)
{
	uint64_t i;
	int rc = 0;

	for (i = ep->recv_retired; i != ep->recv_posted && !rc; i++)
		rc = vb_qp_post_recv(ep, &ep->recvs[i % ep->max_recv], i);
	return rc;
}

/* The device may support less inline data than requested. */
static struct ibv_qp *create_with_inline(struct vb_ep *ep,
					 struct ibv_qp_init_attr *init)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);
	struct ibv_qp *qp;
	uint32_t bytes = d->inline_try;

	for (;; bytes /= 2) {
		init->cap.max_inline_data = bytes;
		qp = ibv_create_qp(d->pd, init);
		if (qp || !bytes)
			break;
	}
	if (qp)
		d->inline_try = bytes;
	return qp;
}

/* A receive of a shared queue is assigned to its endpoint by the queue pair number. */
static int register_qp_num(struct vb_ep *ep)
{
	HASH_ADD(hh, ep->cq->by_qp, qp_num, sizeof(ep->qp_num), ep);
	if (ep->hh.tbl)
		return 0;
	ibv_destroy_qp(ep->qp);
	ep->qp = NULL;
	return -ENOMEM;
}

int vb_qp_create(struct vb_ep *ep)
{
	struct ibv_qp_init_attr init = {
		.qp_context = ep,
		.send_cq = ep->cq->ib,
		.recv_cq = ep->cq->ib,
		.srq = ep->srq ? ep->srq->ib : NULL,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = ep->hw_size,
			 .max_recv_wr = ep->max_recv,
			 .max_send_sge = ep->max_sge,
			 .max_recv_sge = ep->srq ? 0 : 1 },
	};
	int rc;

	ep->qp = create_with_inline(ep, &init);
	if (!ep->qp) {
		rc = errno ? -errno : -ENOMEM;
		log_error(vb_log(ep),
			  "%s: no queue pair of %u + %u requests (error %d): "
			  "the device has %d pairs of %d, or locked memory is "
			  "short (memlock)",
			  ep->peer, ep->hw_size, ep->max_recv, -rc,
			  vb_dev(ep->ep.dev)->attr.max_qp,
			  vb_dev(ep->ep.dev)->attr.max_qp_wr);
		return rc;
	}
	ep->max_inline = init.cap.max_inline_data;
	ep->qp_num = ep->qp->qp_num;
	rc = ep->srq ? register_qp_num(ep) : 0;
	if (!rc)
		rc = to_init(ep);
	return rc ? rc : post_receives(ep);
}

static void log_path(const struct vb_ep *ep, const struct ibv_qp_attr *attr)
{
	const struct vb_dev *d = vb_dev(ep->ep.dev);
	struct ibv_gid_entry gid;

	if (!attr->ah_attr.is_global ||
	    ibv_query_gid_ex(d->ctx, attr->ah_attr.port_num,
			     attr->ah_attr.grh.sgid_index, &gid, 0))
		return;
	if (gid.gid_type == IBV_GID_TYPE_ROCE_V1 &&
	    d->gid.gid_type == IBV_GID_TYPE_ROCE_V2)
		log_warn(d->dev.log,
			 "%s: the kernel chose RoCE v1 though the port has v2: "
			 "cma_roce_mode -d %s -m 2",
			 ep->peer, ibv_get_device_name(d->ctx->device));
	log_debug(d->dev.log, "%s: GID %u, MTU %u, SL %u, traffic class %u",
		  ep->peer, gid.gid_index, 128u << attr->path_mtu,
		  attr->ah_attr.sl, attr->ah_attr.grh.traffic_class);
}

/* Sets only the configured classes; the connection manager chose the others. */
static void class_set(const struct vb_ep *ep, struct ibv_ah_attr *ah)
{
	const struct vb_dev *d = vb_dev(ep->ep.dev);

	if (d->sl)
		ah->sl = d->sl;
	if (ep->bulk && d->bulk_sl >= 0)
		ah->sl = (uint8_t)d->bulk_sl;
	if (d->tos)
		ah->grh.traffic_class = d->tos;
	if (ep->bulk && d->bulk_tos >= 0)
		ah->grh.traffic_class = (uint8_t)d->bulk_tos;
}

static int to_rtr(struct vb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask, rc;

	if (rdma_init_qp_attr(ep->id, &attr, &mask))
		return -errno;
	attr.min_rnr_timer = RNR_TIMER;
	attr.qp_access_flags = ACCESS;
	class_set(ep, &attr.ah_attr);
	rc = -ibv_modify_qp(ep->qp, &attr,
			    mask | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS);
	if (!rc)
		log_path(ep, &attr);
	return rc;
}

static int to_rts(struct vb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int mask;

	if (rdma_init_qp_attr(ep->id, &attr, &mask))
		return -errno;
	attr.timeout = ack_timeout(vb_dev(ep->ep.dev));
	attr.retry_cnt = RETRIES;
	attr.rnr_retry = RNR_FOREVER;
	return -ibv_modify_qp(ep->qp, &attr,
			      mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				      IBV_QP_RNR_RETRY);
}

int vb_qp_ready(struct vb_ep *ep)
{
	int rc = to_rtr(ep);

	return rc ? rc : to_rts(ep);
}

void vb_qp_error(struct vb_ep *ep)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ep->qp)
		ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
}

/* After this the device no longer accesses memory of posted requests. */
void vb_qp_destroy(struct vb_ep *ep)
{
	int rc;

	if (!ep->qp)
		return;
	if (ep->srq) {
		vb_cq_fetch_all(ep->cq);
		HASH_DEL(ep->cq->by_qp, ep);
	}
	rc = ibv_destroy_qp(ep->qp);
	if (rc)
		log_error(vb_log(ep),
			  "%s: cannot destroy a queue pair (error %d)",
			  ep->peer, rc);
	ep->qp = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_wc.c - turns the hardware's completions into the caller's. The wr_id of a completion has
 * its endpoint's key, the direction and a number. Completions of closed endpoints are dropped.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "common/transport/verbs/verbs.h"

static int wc_status(enum ibv_wc_status status, bool recv, bool send)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_WR_FLUSH_ERR:
		return -ECANCELED;
	case IBV_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IBV_WC_LOC_LEN_ERR:
		return -EMSGSIZE;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return recv || send ? -EMSGSIZE : -EACCES;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
		return -EFAULT;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	default:
		return -ECONNRESET;
	}
}

static struct vb_ep *ep_of(struct vb_cq *cq, uint64_t mark)
{
	uint32_t key = (uint32_t)(mark >> 32), slot = key & VB_SLOT_MASK;
	struct vb_ep *ep = slot < cq->nslots ? cq->slot[slot] : NULL;

	return ep && ep->key == key ? ep : NULL;
}

static void wr_failed(struct vb_ep *ep, const struct ibv_wc *raw, int status)
{
	if (ep->state == VB_BROKEN)
		return;
	/* Flushed because of an error that only the peer knows. */
	if (status == -ECANCELED)
		status = -ECONNRESET;
	else
		log_debug(vb_log(ep), "%s: %s (vendor's code 0x%x)", ep->peer,
			  ibv_wc_status_str(raw->status), raw->vendor_err);
	vb_ep_break(ep, status);
}

/* Soft-RoCE reports a bad key and a message that is too long with the same status. */
static int recv_status(struct vb_ep *ep, const struct ibv_wc *raw,
		       const struct vb_recv *r)
{
	if (raw->status == IBV_WC_LOC_QP_OP_ERR &&
	    vb_mr_can_receive(vb_dev(ep->ep.dev), &r->sge))
		return -EMSGSIZE;
	return wc_status(raw->status, true, false);
}

static void recv_failed(struct vb_ep *ep, const struct ibv_wc *raw, int status,
			struct tp_wc *wc)
{
	/* A rejected WRITE_IMM; some devices only flush here. */
	wc->status = status == -EACCES ? -ECANCELED : status;
	wr_failed(ep, raw, status);
	vb_ep_check_flushed(ep);
}

static void recv_report(struct vb_ep *ep, const struct ibv_wc *raw,
			const struct vb_recv *r, struct tp_wc *wc)
{
	int status = recv_status(ep, raw, r);

	*wc = (struct tp_wc){ .wr_id = r->wr_id,
			      .opcode = TP_RECV,
			      .ep = &ep->ep };
	if (status) {
		recv_failed(ep, raw, status, wc);
		return;
	}
	if (ep->state == VB_ACCEPTED)
		vb_ep_established(ep);
	wc->byte_len = raw->byte_len;
	if (raw->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		wc->opcode = TP_RECV_IMM;
		wc->imm = ntohl(raw->imm_data);
	}
}

static int recv_done(struct vb_ep *ep, const struct ibv_wc *raw,
		     struct tp_wc *wc)
{
	const struct vb_recv *r;

	if (ep->recv_retired == ep->recv_posted)
		return 0;
	r = &ep->recvs[ep->recv_retired++ % ep->max_recv];
	recv_report(ep, raw, r, wc);
	return 1;
}

/* The queue pair number tells which endpoint received it. */
static int shared_done(struct vb_cq *cq, const struct ibv_wc *raw,
		       struct tp_wc *wc)
{
	const struct vb_recv *r = NULL;
	struct vb_ep *ep;

	if (cq->srq)
		r = vb_srq_take(cq->srq, raw->wr_id & VB_NUMBER_MASK);
	if (!r)
		return 0;
	HASH_FIND(hh, cq->by_qp, &raw->qp_num, sizeof(raw->qp_num), ep);
	if (ep)
		recv_report(ep, raw, r, wc);
	else
		*wc = (struct tp_wc){ .wr_id = r->wr_id,
				      .status = -ECANCELED,
				      .opcode = TP_RECV };
	wc->srq = &cq->srq->srq;
	return 1;
}

static struct vb_send *oldest_send(struct vb_ep *ep)
{
	if (ep->send_retired == ep->send_posted)
		return NULL;
	return &ep->sends[ep->send_retired % ep->send_size];
}

/* Fills wc from the oldest request and retires it. 1, or 0: not to be reported. */
static int send_report(struct vb_ep *ep, int status, struct tp_wc *wc)
{
	const struct vb_send *s = oldest_send(ep);
	int n = !s->ours && (status || s->signaled);

	if (n)
		*wc = (struct tp_wc){ .wr_id = s->wr_id,
				      .status = status,
				      .opcode = s->opcode,
				      .byte_len = s->len,
				      .ep = &ep->ep };
	vb_send_retire(ep);
	return n;
}

/*
 * raw is the completion of the last work request below `done`; all earlier ones succeeded. After
 * the first failure, vb_wc_take_flushed() reports all other requests as flushed.
 */
static int send_done(struct vb_ep *ep, const struct ibv_wc *raw,
		     struct tp_wc *wc)
{
	uint32_t step = (uint32_t)raw->wr_id - (uint32_t)ep->hw_done;
	uint64_t done = ep->hw_done + (step & VB_NUMBER_MASK) + 1;
	struct vb_send *s;
	int n = 0, status;

	if (done > ep->hw_posted)
		return 0;
	ep->hw_done = done;
	if (ep->send_failed) {
		vb_ep_check_flushed(ep);
		return 0;
	}
	while ((s = oldest_send(ep)) && s->whole && s->end < done)
		send_report(ep, 0, wc);
	if (!s)
		return 0;
	if (raw->status == IBV_WC_SUCCESS) {
		if (s->whole && s->end == done)
			n = send_report(ep, 0, wc);
		if (ep->state == VB_BROKEN)
			vb_ep_check_flushed(ep);
		else
			vb_send_continue(ep);
		return n;
	}
	status = wc_status(raw->status, false, s->opcode == TP_SEND);
	ep->send_failed = true;
	n = send_report(ep, status, wc);
	wr_failed(ep, raw, status);
	vb_ep_check_flushed(ep);
	return n;
}

static int convert_wc(struct vb_cq *cq, const struct ibv_wc *raw,
		      struct tp_wc *wc)
{
	struct vb_ep *ep;

	if (raw->wr_id & VB_MARK_SHARED)
		return shared_done(cq, raw, wc);
	ep = ep_of(cq, raw->wr_id);
	if (!ep)
		return 0;
	if (raw->wr_id & VB_MARK_RECV)
		return recv_done(ep, raw, wc);
	return send_done(ep, raw, wc);
}

/*
 * Call it when the queue is empty: everything that the leaving peers sent is then reported. If a
 * queue pair is in the error state and we did not set it, the connection failed.
 */
static void break_leaving(struct vb_cq *cq)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vb_ep *ep;

	while ((ep = TAILQ_FIRST(&cq->leaving))) {
		TAILQ_REMOVE(&cq->leaving, ep, leave_link);
		ep->is_leaving = false;
		if (ep->state != VB_BROKEN && ep->qp &&
		    ibv_query_qp(ep->qp, &attr, IBV_QP_STATE, &init) == 0 &&
		    attr.qp_state == IBV_QPS_ERR)
			vb_ep_break(ep, -ECONNRESET);
		else
			vb_ep_break(ep, 0);
	}
}

int vb_wc_take(struct vb_cq *cq, struct tp_wc *wc, int max)
{
	int n = 0;

	while (n < max) {
		if (!vb_cq_fetch(cq)) {
			break_leaving(cq);
			break;
		}
		while (n < max && cq->fetched_at < cq->fetched_n)
			n += convert_wc(cq, &cq->fetched[cq->fetched_at++],
					wc + n);
	}
	return n;
}

static int flush_ep(struct vb_ep *ep, struct tp_wc *wc, int max)
{
	const struct vb_recv *r;
	int n = 0;

	while (n < max && oldest_send(ep)) {
		n += send_report(ep, -ECANCELED, wc + n);
	}
	for (; n < max && ep->recv_retired != ep->recv_posted; n++) {
		r = &ep->recvs[ep->recv_retired++ % ep->max_recv];
		wc[n] = (struct tp_wc){ .wr_id = r->wr_id,
					.status = -ECANCELED,
					.opcode = TP_RECV,
					.ep = &ep->ep };
	}
	return n;
}

int vb_wc_take_flushed(struct vb_cq *cq, struct tp_wc *wc, int max)
{
	struct vb_ep *ep;
	int n = 0;

	while (n < max && (ep = TAILQ_FIRST(&cq->flushing))) {
		n += flush_ep(ep, wc + n, max - n);
		if (oldest_send(ep) || ep->recv_retired != ep->recv_posted)
			break;
		TAILQ_REMOVE(&cq->flushing, ep, flush_link);
		ep->is_flushing = false;
	}
	return n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_wc.c - turns the hardware's completions into the caller's. The wr_id of a completion has
 * its endpoint's key, the direction and a number. Completions of closed endpoints are dropped.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

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

static void failed(struct vb_ep *ep, const struct ibv_wc *raw, int status)
{
	if (ep->state == VB_BROKEN)
		return;
	/* Flushed because of an error that only the peer knows. */
	if (status == -ECANCELED)
		status = -ECONNRESET;
	else
		log_debug(vb_log(ep), "%s: %s (vendor's code 0x%x)", ep->peer,
			  ibv_wc_status_str(raw->status), raw->vendor_err);
	vb_break(ep, status);
}

/* Soft-RoCE reports a bad key and a message that is too long with the same status. */
static int recv_status(struct vb_ep *ep, const struct ibv_wc *raw,
		       const struct vb_recv *r)
{
	if (raw->status == IBV_WC_LOC_QP_OP_ERR &&
	    vb_may_receive(vb_dev(ep->ep.dev), &r->sge))
		return -EMSGSIZE;
	return wc_status(raw->status, true, false);
}

static void recv_failed(struct vb_ep *ep, const struct ibv_wc *raw, int status,
			struct tp_wc *wc)
{
	/* A rejected WRITE_IMM; some devices only flush here. */
	wc->status = status == -EACCES ? -ECANCELED : status;
	failed(ep, raw, status);
	vb_flush_check(ep);
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
		vb_established(ep);
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

void vb_send_retire(struct vb_ep *ep)
{
	struct vb_send *s = &ep->sends[ep->send_retired % ep->send_size];

	ep->send_retired++;
	if (!s->ours)
		ep->send_user--;
	if (s->bounce)
		vb_bounce_put(ep->cq, s->bounce);
	s->bounce = NULL;
}

static struct vb_send *oldest(struct vb_ep *ep)
{
	if (ep->send_retired == ep->send_posted)
		return NULL;
	return &ep->sends[ep->send_retired % ep->send_size];
}

/* Fills wc from the oldest request and retires it. 1, or 0: not to be reported. */
static int send_report(struct vb_ep *ep, int status, struct tp_wc *wc)
{
	const struct vb_send *s = oldest(ep);
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
 * All work requests below done succeeded; the last of them ended with status. After the first
 * failure vb_flush() reports everything else as flushed.
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
		vb_flush_check(ep);
		return 0;
	}
	while ((s = oldest(ep)) && s->whole && s->end < done)
		send_report(ep, 0, wc);
	if (!s)
		return 0;
	if (raw->status == IBV_WC_SUCCESS) {
		if (s->whole && s->end == done)
			n = send_report(ep, 0, wc);
		if (ep->state == VB_BROKEN)
			vb_flush_check(ep);
		else
			vb_push(ep);
		return n;
	}
	status = wc_status(raw->status, false, s->opcode == TP_SEND);
	ep->send_failed = true;
	n = send_report(ep, status, wc);
	failed(ep, raw, status);
	vb_flush_check(ep);
	return n;
}

static int convert(struct vb_cq *cq, const struct ibv_wc *raw, struct tp_wc *wc)
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

bool vb_hold(struct vb_cq *cq)
{
	int n;

	if (cq->held_at < cq->held_n)
		return true;
	n = ibv_poll_cq(cq->ib, VB_HELD, cq->held);
	cq->held_at = 0;
	cq->held_n = n > 0 ? (unsigned int)n : 0;
	return n > 0;
}

static bool held_grow(struct vb_cq *cq)
{
	unsigned int size = 2 * cq->held_size;
	struct ibv_wc *more = realloc(cq->held, size * sizeof(*more));

	if (!more)
		return false;
	cq->held = more;
	cq->held_size = size;
	return true;
}

/* If there is no memory, some receives of the queue pair are lost. */
void vb_stash(struct vb_cq *cq)
{
	int n;

	if (!vb_hold(cq))
		return;
	do {
		if (cq->held_n + VB_HELD > cq->held_size && !held_grow(cq))
			return;
		n = ibv_poll_cq(cq->ib, VB_HELD, cq->held + cq->held_n);
		if (n > 0)
			cq->held_n += (unsigned int)n;
	} while (n == VB_HELD);
}

/*
 * The queue is empty, so everything that the leaving peers sent was reported. A queue pair in an
 * error state that we did not set means that something failed.
 */
static void leave(struct vb_cq *cq)
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
			vb_break(ep, -ECONNRESET);
		else
			vb_break(ep, 0);
	}
}

int vb_harvest(struct vb_cq *cq, struct tp_wc *wc, int max)
{
	int n = 0;

	while (n < max) {
		if (!vb_hold(cq)) {
			leave(cq);
			break;
		}
		while (n < max && cq->held_at < cq->held_n)
			n += convert(cq, &cq->held[cq->held_at++], wc + n);
	}
	return n;
}

static int flush_ep(struct vb_ep *ep, struct tp_wc *wc, int max)
{
	const struct vb_recv *r;
	int n = 0;

	while (n < max && oldest(ep)) {
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

int vb_flush(struct vb_cq *cq, struct tp_wc *wc, int max)
{
	struct vb_ep *ep;
	int n = 0;

	while (n < max && (ep = TAILQ_FIRST(&cq->flushing))) {
		n += flush_ep(ep, wc + n, max - n);
		if (oldest(ep) || ep->recv_retired != ep->recv_posted)
			break;
		TAILQ_REMOVE(&cq->flushing, ep, flush_link);
		ep->is_flushing = false;
	}
	return n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_ep.c - endpoints: opening, breaking, closing. Parts of a closed endpoint are kept. Its id
 * is kept so that a lost disconnect message is repeated. Its queue pair may have taken receives
 * from the shared queue; it is then kept until they complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

#define SEND_WR 256u
#define RECV_WR 64u
/* additional work requests, for requests that are cut, and for heartbeats */
#define SPARE_WR 16u

/*
 * Size of the send queue with shared receives. There are many endpoints then, and a queue of the
 * usual size, with its part of the completion queue, would take most of an endpoint's memory.
 * Requests that find no room wait.
 */
#define CROWD_WR 128u
#define SLOTS_MIN 64u
#define DRAIN_MS 200u /* time for a device to flush what was posted */

/* Chooses a key whose low bits are a free slot of the cq. */
static int key_take(struct vb_ep *ep)
{
	struct vb_cq *cq = ep->cq;
	unsigned int i, n;
	struct vb_ep **more;

	for (i = 0; i < cq->nslots && cq->slot[i]; i++)
		;
	if (i == cq->nslots) {
		n = cq->nslots ? 2 * cq->nslots : SLOTS_MIN;
		if (n > VB_SLOT_MASK + 1)
			return -ENOBUFS;
		more = realloc(cq->slot, n * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(&more[cq->nslots], 0, (n - cq->nslots) * sizeof(*more));
		cq->slot = more;
		cq->nslots = n;
	}
	cq->slot[i] = ep;
	ep->key = ++cq->generation << VB_SLOT_BITS | i;
	return 0;
}

static int rings_make(struct vb_ep *ep)
{
	ep->sends = calloc(ep->send_size, sizeof(*ep->sends));
	if (ep->max_recv)
		ep->recvs = calloc(ep->max_recv, sizeof(*ep->recvs));
	return ep->sends && (ep->recvs || !ep->max_recv) ? 0 : -ENOMEM;
}

static void ep_free(struct vb_ep *ep)
{
	free(ep->sends);
	free(ep->recvs);
	free(ep);
}

static void sizes_set(struct vb_ep *ep, const struct tp_ep_attr *attr)
{
	const struct vb_dev *d = vb_dev(ep->ep.dev);

	ep->max_send = attr->max_send_wr ?: SEND_WR;
	ep->max_recv = ep->srq ? 0 : attr->max_recv_wr ?: RECV_WR;
	ep->send_size = ep->max_send + 2; /* a heartbeat, a window */
	ep->hw_size = ep->max_send + SPARE_WR;
	if (ep->hw_size > (unsigned int)d->attr.max_qp_wr)
		ep->hw_size = (unsigned int)d->attr.max_qp_wr;
	if (ep->srq && ep->hw_size > CROWD_WR)
		ep->hw_size = CROWD_WR;
	ep->max_sge = d->max_sge;
	ep->entries = ep->hw_size + ep->max_recv;
}

int vb_ep_open(struct tp_cq *base, const struct tp_ep_attr *attr,
	       struct tp_ep **out)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_ep *ep = calloc(1, sizeof(*ep));
	int rc;

	if (!ep)
		return -ENOMEM;
	ep->ep.dev = base->dev;
	ep->ep.context = attr->context;
	ep->ep.peer = ep->peer;
	ep->tag.kind = VB_EP;
	ep->cq = cq;
	ep->srq = attr->srq ? cq->srq : NULL;
	ep->bulk = attr->bulk;
	ep->opened.ep = ep->ended.ep = &ep->ep;
	ep->opened.priv = ep->ended.priv = &ep->priv;
	ep->send_posted = ep->send_retired = VB_NUMBER_FIRST;
	ep->recv_posted = ep->recv_retired = VB_NUMBER_FIRST;
	ep->hw_posted = ep->hw_done = ep->beat_mark = VB_NUMBER_FIRST;
	STAILQ_INIT(&ep->waiting);
	LIST_INIT(&ep->windows);
	snprintf(ep->peer, sizeof(ep->peer), "verbs -");
	sizes_set(ep, attr);
	rc = -ENOBUFS;
	if (ep->max_send + ep->max_recv > cq->room)
		goto free_ep;
	rc = rings_make(ep);
	if (!rc)
		rc = key_take(ep);
	if (rc)
		goto free_ep;
	rc = vb_cq_grow(cq, ep->entries);
	if (rc)
		goto free_key;
	cq->room -= ep->max_send + ep->max_recv;
	TAILQ_INSERT_TAIL(&cq->eps, ep, link);
	*out = &ep->ep;
	return 0;
free_key:
	cq->slot[ep->key & VB_SLOT_MASK] = NULL;
free_ep:
	ep_free(ep);
	return rc;
}

/* Whether the hardware still has requests of the ep. */
static bool is_in_hardware(const struct vb_ep *ep)
{
	return ep->qp && (ep->hw_done != ep->hw_posted ||
			  ep->recv_retired != ep->recv_posted);
}

void vb_ep_drop_waiting(struct vb_ep *ep)
{
	struct vb_waiting *w;

	while ((w = STAILQ_FIRST(&ep->waiting))) {
		STAILQ_REMOVE_HEAD(&ep->waiting, link);
		free(w);
	}
}

void vb_ep_check_flushed(struct vb_ep *ep)
{
	if (ep->state != VB_BROKEN || ep->is_flushing || is_in_hardware(ep))
		return;
	ep->deadline = 0;
	vb_ep_drop_waiting(ep);
	if (ep->send_retired == ep->send_posted &&
	    ep->recv_retired == ep->recv_posted)
		return;
	ep->is_flushing = true;
	TAILQ_INSERT_TAIL(&ep->cq->flushing, ep, flush_link);
}

static void send_disconnect(struct vb_ep *ep)
{
	if (ep->connected)
		rdma_disconnect(ep->id);
	ep->connected = false;
}

static void ep_end(struct vb_ep *ep, enum tp_event_type type, int status)
{
	if (ep->state == VB_BROKEN)
		return;
	ep->state = VB_BROKEN;
	ep->status = status;
	vb_qp_error(ep);
	if (ep->connected) {
		ep->gone |= status == 0;
		send_disconnect(ep);
		ep->connected = !ep->gone;
	}
	tp_pending_queue(&ep->cq->events, &ep->ended, type, status);
	ep->deadline = clock_after_ms(VB_CLOSING_MS);
	vb_cq_set_timer(ep->cq, ep->deadline);
	vb_ep_check_flushed(ep);
}

void vb_ep_break(struct vb_ep *ep, int status)
{
	ep_end(ep, TP_EV_DISCONNECTED, status);
}

void vb_ep_end_rejected(struct vb_ep *ep)
{
	ep_end(ep, TP_EV_REJECTED, 0);
}

void vb_ep_established(struct vb_ep *ep)
{
	if (ep->state != VB_CONNECTING && ep->state != VB_ACCEPTED)
		return;
	ep->state = VB_OPEN;
	ep->connected = true;
	ep->deadline = 0;
	ep->beat_at = clock_after_ms(vb_dev(ep->ep.dev)->dead_peer_ms / 3);
	vb_cq_set_timer(ep->cq, ep->beat_at);
	tp_pending_queue(&ep->cq->events, &ep->opened, TP_EV_ESTABLISHED, 0);
}

/* When this request of a queue pair in error completes, all earlier ones have completed. */
static bool marker_post(struct vb_ep *ep, uint64_t mark)
{
	struct ibv_send_wr wr = { .wr_id = mark,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	return !ibv_post_send(ep->qp, &wr, &bad);
}

static bool is_fetched(const struct vb_cq *cq, uint64_t mark)
{
	unsigned int i;

	for (i = cq->fetched_at; i < cq->fetched_n; i++) {
		if (cq->fetched[i].wr_id == mark)
			return true;
	}
	return false;
}

/*
 * Waits until the device no longer accesses the memory of sends, while the queue pair still exists.
 * Returns false if the device may still access it.
 */
static bool is_drained(struct vb_ep *ep)
{
	uint64_t end = clock_after_ms(DRAIN_MS);
	uint64_t mark = vb_wr_id(ep, ep->hw_posted);

	if (ep->hw_done == ep->hw_posted)
		return true;
	if (ep->hw_posted - ep->hw_done == ep->hw_size ||
	    !marker_post(ep, mark))
		return false;
	do {
		vb_cq_fetch_all(ep->cq);
		if (is_fetched(ep->cq, mark))
			return true;
	} while (clock_now() < end);
	return false;
}

/* Later asynchronous events of the queue pair find no endpoint. */
static struct ibv_qp *detach_pair(struct vb_ep *ep)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);
	struct ibv_qp *qp = ep->qp;

	pthread_mutex_lock(&d->lock);
	qp->qp_context = NULL;
	pthread_mutex_unlock(&d->lock);
	HASH_DEL(ep->cq->by_qp, ep);
	ep->qp = NULL;
	return qp;
}

static bool pair_must_stay(struct vb_ep *ep)
{
	if (!ep->qp || !ep->srq)
		return false;
	vb_qp_error(ep);
	return is_drained(ep);
}

static void remnant_add(struct vb_ep *ep, struct vb_remnant *rest, bool pair)
{
	*rest = (struct vb_remnant){ .tag.kind = VB_REMNANT,
				     .cq = ep->cq,
				     .id = ep->id,
				     .qp = pair ? detach_pair(ep) : NULL,
				     .deadline = clock_after_ms(
					     VB_CLOSING_MS) };
	rest->id->context = &rest->tag;
	TAILQ_INSERT_TAIL(&ep->cq->remnants, rest, link);
	vb_cq_set_timer(ep->cq, rest->deadline);
}

static void ep_leave(struct vb_ep *ep)
{
	struct vb_remnant *rest = NULL;
	bool pair;

	vb_ep_end_windows(ep);
	if (!ep->id)
		return;
	pair = pair_must_stay(ep);
	if (pair || (ep->connected && !ep->gone))
		rest = malloc(sizeof(*rest));
	if (rest)
		remnant_add(ep, rest, pair);
	vb_qp_destroy(ep);
	if (!rest)
		rdma_destroy_id(ep->id);
}

void vb_ep_close(struct tp_ep *base)
{
	struct vb_ep *ep = vb_ep(base);
	struct vb_cq *cq = ep->cq;

	if (ep->connected && ep->state != VB_BROKEN)
		rdma_disconnect(ep->id);
	ep_leave(ep);
	vb_ep_drop_waiting(ep);
	while (ep->send_retired != ep->send_posted)
		vb_send_retire(ep);
	tp_pending_drop(&cq->events, &ep->opened);
	tp_pending_drop(&cq->events, &ep->ended);
	if (ep->is_leaving)
		TAILQ_REMOVE(&cq->leaving, ep, leave_link);
	if (ep->is_flushing)
		TAILQ_REMOVE(&cq->flushing, ep, flush_link);
	TAILQ_REMOVE(&cq->eps, ep, link);
	cq->slot[ep->key & VB_SLOT_MASK] = NULL;
	cq->used -= ep->entries;
	cq->room += ep->max_send + ep->max_recv;
	ep_free(ep);
}

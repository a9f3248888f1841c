/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_bye.c - what remains of a closed endpoint. Its id remains so that a lost disconnect message
 * is repeated. Its queue pair remains if it may have taken receives from the shared queue, until
 * they complete.
 */
#include <stdlib.h>

#include "common/transport/verbs/verbs.h"

#define DRAIN_MS 200u /* time for a device to flush what was posted */

void vb_bye_end(struct vb_bye *bye)
{
	TAILQ_REMOVE(&bye->cq->byes, bye, link);
	if (bye->qp) {
		vb_stash(bye->cq);
		ibv_destroy_qp(bye->qp);
	}
	rdma_destroy_id(bye->id);
	free(bye);
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

static bool is_held(const struct vb_cq *cq, uint64_t mark)
{
	unsigned int i;

	for (i = cq->held_at; i < cq->held_n; i++) {
		if (cq->held[i].wr_id == mark)
			return true;
	}
	return false;
}

/*
 * True: the device no longer accesses the memory of sends, and the queue pair still exists. False:
 * this is not certain.
 */
static bool is_drained(struct vb_ep *ep)
{
	uint64_t end = clock_after_ms(DRAIN_MS);
	uint64_t mark = (uint64_t)ep->key << 32 |
			(ep->hw_posted & VB_NUMBER_MASK);

	if (ep->hw_done == ep->hw_posted)
		return true;
	if (ep->hw_posted - ep->hw_done == ep->hw_size ||
	    !marker_post(ep, mark))
		return false;
	do {
		vb_stash(ep->cq);
		if (is_held(ep->cq, mark))
			return true;
	} while (clock_now() < end);
	return false;
}

/* Later asynchronous events of the queue pair find no endpoint. */
static struct ibv_qp *pair_take(struct vb_ep *ep)
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

static bool pair_stays(struct vb_ep *ep)
{
	if (!ep->qp || !ep->srq)
		return false;
	vb_qp_error(ep);
	return is_drained(ep);
}

static void bye_wait(struct vb_ep *ep, struct vb_bye *bye, bool pair)
{
	*bye = (struct vb_bye){ .tag.kind = VB_BYE,
				.cq = ep->cq,
				.id = ep->id,
				.qp = pair ? pair_take(ep) : NULL,
				.deadline = clock_after_ms(VB_CLOSING_MS) };
	bye->id->context = &bye->tag;
	TAILQ_INSERT_TAIL(&ep->cq->byes, bye, link);
	vb_timer(ep->cq, bye->deadline);
}

void vb_leave(struct vb_ep *ep)
{
	struct vb_bye *bye = NULL;
	bool pair;

	vb_windows_end(ep);
	if (!ep->id)
		return;
	pair = pair_stays(ep);
	if (pair || (ep->connected && !ep->gone))
		bye = malloc(sizeof(*bye));
	if (bye)
		bye_wait(ep, bye, pair);
	vb_qp_destroy(ep);
	if (!bye)
		rdma_destroy_id(ep->id);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_srq.c - the shared receive queue of a cq. The wr_id of a receive is its place in a table;
 * the queue pair number tells which endpoint consumed it.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/transport/verbs/verbs.h"

static struct vb_srq *vb_srq(struct tp_srq *srq)
{
	return container_of(srq, struct vb_srq, srq);
}

static struct ibv_srq *create_srq(struct vb_srq *s)
{
	const struct vb_dev *d = vb_dev(s->srq.dev);
	struct ibv_srq_init_attr init = {
		.srq_context = s,
		.attr = { .max_wr = s->max, .max_sge = 1 },
	};

	return ibv_create_srq(d->pd, &init);
}

static int places_make(struct vb_srq *s)
{
	unsigned int i;

	s->place = calloc(s->max, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	for (i = 0; i < s->max; i++)
		s->place[i].next = i + 1;
	return 0;
}

static void srq_free(struct vb_srq *s)
{
	free(s->place);
	free(s);
}

static int srq_make(struct vb_srq *s)
{
	int rc = places_make(s);

	if (!rc)
		rc = vb_cq_grow(s->cq, s->max);
	if (rc)
		return rc;
	s->ib = create_srq(s);
	if (s->ib)
		return 0;
	rc = errno ? -errno : -ENOMEM;
	s->cq->used -= s->max;
	log_error(s->srq.dev->log,
		  "verbs: no shared receive queue of %u (error %d): locked "
		  "memory is short (memlock), or the device has none left",
		  s->max, -rc);
	return rc;
}

static unsigned int max_of(const struct vb_dev *d, unsigned int want)
{
	return want < (unsigned int)d->attr.max_srq_wr
		       ? want
		       : (unsigned int)d->attr.max_srq_wr;
}

int vb_srq_open(struct tp_cq *base, unsigned int max_wr, void *context,
		struct tp_srq **out)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_dev *d = vb_dev(base->dev);
	struct vb_srq *s;
	int rc;

	if (d->attr.max_srq <= 0 || d->attr.max_srq_wr <= 0)
		return -EOPNOTSUPP;
	if (cq->srq)
		return -EBUSY;
	if (max_wr > cq->room)
		return -ENOBUFS;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->srq = (struct tp_srq){ .dev = base->dev, .context = context };
	s->low.srq = &s->srq;
	s->cq = cq;
	s->wrs = max_wr;
	s->max = max_of(d, max_wr);
	rc = srq_make(s);
	if (rc) {
		srq_free(s);
		return rc;
	}
	cq->room -= s->wrs;
	cq->srq = s;
	*out = &s->srq;
	return 0;
}

/* Destroys the queue pairs of closed endpoints that still use the shared queue. */
static void end_remnant_pairs(struct vb_cq *cq)
{
	struct vb_remnant *rest, *next;

	for (rest = TAILQ_FIRST(&cq->remnants); rest; rest = next) {
		next = TAILQ_NEXT(rest, link);
		if (rest->qp)
			vb_remnant_end(rest);
	}
}

void vb_srq_close(struct tp_srq *base)
{
	struct vb_srq *s = vb_srq(base);
	struct vb_cq *cq = s->cq;
	int rc;

	end_remnant_pairs(cq);
	rc = ibv_destroy_srq(s->ib);
	if (rc)
		log_error(base->dev->log,
			  "verbs: cannot destroy a shared receive queue "
			  "(error %d)",
			  rc);
	tp_pending_drop(&cq->events, &s->low);
	cq->srq = NULL;
	cq->used -= s->max;
	cq->room += s->wrs;
	srq_free(s);
}

static int post_place(struct vb_srq *s, unsigned int number)
{
	const struct vb_recv *r = &s->place[number].recv;
	struct ibv_sge sge = { (uintptr_t)r->sge.addr, r->sge.len,
			       r->sge.lkey };
	struct ibv_recv_wr wr = {
		.wr_id = number | VB_MARK_RECV | VB_MARK_SHARED,
		.sg_list = &sge,
		.num_sge = sge.length > 0,
	}, *bad;

	return -ibv_post_srq_recv(s->ib, &wr, &bad);
}

int vb_srq_post_recv(struct tp_srq *base, const struct tp_recv_wr *wr)
{
	struct vb_srq *s = vb_srq(base);
	unsigned int number = s->free;
	struct vb_place *p;
	int rc;

	if (wr->sge.len && wr->sge.lkey == TP_LKEY_NONE)
		return -EINVAL;
	if (number == s->max)
		return -ENOBUFS;
	p = &s->place[number];
	p->recv = (struct vb_recv){ wr->wr_id, wr->sge };
	rc = post_place(s, number);
	if (rc)
		return rc;
	p->posted = true;
	s->free = p->next;
	return 0;
}

int vb_srq_limit(struct tp_srq *base, unsigned int limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return -ibv_modify_srq(vb_srq(base)->ib, &attr, IBV_SRQ_LIMIT);
}

const struct vb_recv *vb_srq_take(struct vb_srq *s, uint32_t number)
{
	struct vb_place *p = &s->place[number];

	if (number >= s->max || !p->posted)
		return NULL;
	p->posted = false;
	p->next = s->free;
	s->free = number;
	return &p->recv;
}

void vb_srq_check_limit(struct vb_srq *s)
{
	if (atomic_exchange(&s->is_low, false) && !s->low.queued)
		tp_pending_queue(&s->cq->events, &s->low, TP_EV_SRQ_LIMIT, 0);
}

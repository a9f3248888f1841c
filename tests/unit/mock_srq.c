/* SPDX-License-Identifier: BSD-2-Clause */
/* mock_srq.c - receives of the mock: those of an endpoint, or shared ones. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/mock_int.h"

int tp_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **out)
{
	struct tp_srq *srq;

	if (!mock.srq)
		return -EOPNOTSUPP;
	srq = calloc(1, sizeof(*srq));
	srq->cq = cq;
	srq->context = context;
	srq->max = max_wr;
	STAILQ_INIT(&srq->recvs);
	*out = srq;
	return 0;
}

void tp_srq_close(struct tp_srq *srq)
{
	struct shared_recv *r;

	while ((r = STAILQ_FIRST(&srq->recvs))) {
		STAILQ_REMOVE_HEAD(&srq->recvs, link);
		free(r);
	}
	free(srq);
}

void *tp_srq_context(const struct tp_srq *srq)
{
	return srq->context;
}

int tp_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr)
{
	struct shared_recv *r;

	if (srq->n == srq->max)
		return -ENOBUFS;
	r = calloc(1, sizeof(*r));
	r->wr = *wr;
	STAILQ_INSERT_TAIL(&srq->recvs, r, link);
	srq->n++;
	return 0;
}

int tp_srq_limit(struct tp_srq *srq, unsigned int limit)
{
	srq->limit = limit;
	return 0;
}

bool mock_ready(struct tp_ep *ep)
{
	bool ready = !ep->attr.srq || ep->attr.srq->n;

	mock.waited += !ready;
	return ready;
}

static struct tp_recv_wr shared_take(struct tp_srq *srq)
{
	struct shared_recv *r = STAILQ_FIRST(&srq->recvs);
	struct tp_recv_wr wr = r->wr;

	STAILQ_REMOVE_HEAD(&srq->recvs, link);
	free(r);
	if (--srq->n < srq->limit) {
		srq->limit = 0;
		mock_event(srq->cq, NULL, TP_EV_SRQ_LIMIT, 0)->ev.srq = srq;
	}
	return wr;
}

struct tp_recv_wr mock_recv_take(struct tp_ep *ep)
{
	struct tp_recv_wr wr;

	if (ep->attr.srq)
		return shared_take(ep->attr.srq);
	ck_assert_msg(ep->rn > 0, "receiver not ready");
	wr = ep->recv[ep->rhead];
	ep->rhead = (ep->rhead + 1) % ep->attr.max_recv_wr;
	ep->rn--;
	return wr;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_wait.c - sleeping.  Whether to poll before that is the caller's
 * choice: it alone knows whether that paid the last time.
 */
#include "local.h"

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, sock.cq);
}

/* The hot endpoints ask for the bell.  False: one has something to do. */
static bool cool_all(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		if (!local_ep_hushed(ep) && !local_ep_cool(ep))
			return false;
	}
	return true;
}

int local_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct local_cq *cq = to_cq(base);

	local_cq_flush(cq);
	if (local_cq_has_work(cq) || !cool_all(cq))
		return 0;
	cq->polls = 0;
	return sock_cq_sleep(&cq->sock, deadline);
}

int local_cq_arm(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	local_cq_flush(cq);
	cq->polls = UINT32_MAX / 2; /* the next poll looks */
	if (local_cq_has_work(cq) || !cool_all(cq))
		return 1;
	return !sock_cq_may_sleep(&cq->sock);
}

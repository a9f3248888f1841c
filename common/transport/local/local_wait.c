/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_wait.c - sleeping. The caller decides whether to poll first: it knows whether polling paid
 * off the last time.
 */
#include <errno.h>

#include "common/transport/local/local.h"

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, sock.cq);
}

/* Hot endpoints become cold and ask for the bell. False: one has something to do. */
static bool cool_all(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	if (!local_caller_count(cq))
		return false;
	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		if (!ep->joined && !local_ep_cool(ep))
			return false;
	}
	return true;
}

/* The server that should wake the others may be stopped. Then we wake them after LOCAL_RELAY_MS. */
static int sleep_on(struct local_cq *cq, uint64_t deadline)
{
	uint64_t soon;
	int rc;

	local_caller_look(cq);
	soon = cq->caller.relay ? cq->caller.relay_until : CLOCK_NEVER;
	if (soon >= deadline)
		return sock_cq_sleep(&cq->sock, deadline);
	rc = sock_cq_sleep(&cq->sock, soon);
	if (rc != -ETIMEDOUT)
		return rc;
	local_caller_settle(cq);
	return sock_cq_sleep(&cq->sock, deadline);
}

int local_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct local_cq *cq = to_cq(base);

	local_cq_flush(cq);
	if (local_cq_has_work(cq) || !cool_all(cq))
		return 0;
	cq->polls = 0;
	return sleep_on(cq, deadline);
}

int local_cq_arm(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	local_cq_flush(cq);
	cq->polls = UINT32_MAX / 2; /* the next poll checks the epoll set */
	local_caller_settle(cq);
	if (local_cq_has_work(cq) || !cool_all(cq))
		return 1;
	return !sock_cq_may_sleep(&cq->sock);
}

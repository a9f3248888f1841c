/* SPDX-License-Identifier: BSD-2-Clause */
/* local_cq.c - the progress context: opening and polling. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/local/local.h"

/* polls between checks of the epoll set, while an endpoint is hot */
#define LOOK_EVERY 32u
#define HOT_MANY 16u /* with more hot endpoints, idle ones become cold */
#define IDLE_POLLS 1000u

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, sock.cq);
}

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct sock_cq *base;
	struct local_cq *cq;
	int rc = sock_cq_new(dev, depth, sizeof(*cq), &base);

	if (rc)
		return rc;
	cq = to_cq(&base->cq);
	TAILQ_INIT(&cq->open);
	TAILQ_INIT(&cq->hot);
	TAILQ_INIT(&cq->done);
	local_caller_init(cq);
	*out = &cq->sock.cq;
	return 0;
}

void local_cq_close(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	local_caller_fini(cq);
	sock_cq_fini(&cq->sock);
	free(cq);
}

/*
 * Does not change the epoll set or shared memory: the child shares them with the parent. The
 * table's descriptor belongs to the device, which a child cannot use either.
 */
void local_cq_abandon(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);
	struct local_mrs *mrs = &local_dev(base->dev)->mrs;
	struct local_ep *ep;

	TAILQ_FOREACH(ep, &cq->open, open_link) {
		close(ep->fd);
		if (ep->bell >= 0)
			close(ep->bell);
		if (ep->gong.fd >= 0)
			close(ep->gong.fd);
		if (ep->life >= 0)
			close(ep->life);
		local_pass_abandon(ep);
	}
	local_caller_fini(cq);
	sock_cq_fini(&cq->sock);
	if (mrs->fd >= 0)
		close(mrs->fd);
	mrs->fd = -1;
}

static void turn_or_cool(struct local_cq *cq, struct local_ep *ep)
{
	if (local_ep_runnable(ep)) {
		ep->idle = 0;
		local_ep_turn(ep);
	} else if (cq->nhot > HOT_MANY && ++ep->idle > IDLE_POLLS) {
		local_ep_cool(ep);
	}
}

/* Gives each hot endpoint one turn. A turn may end its own ep, but no other. */
static void turns(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		turn_or_cool(cq, ep);
	}
}

static int harvest(struct local_cq *cq, struct tp_wc *wc, int n)
{
	struct local_ep *ep;
	int total = 0;

	while (total < n && (ep = TAILQ_FIRST(&cq->done))) {
		total += local_harvest(ep, wc + total, n - total);
		TAILQ_REMOVE(&cq->done, ep, done_link);
		ep->is_done = false;
		local_ep_done(ep);
	}
	return total;
}

static bool look_is_due(struct local_cq *cq)
{
	return cq->sock.nsaved == 0 &&
	       (cq->nhot == 0 || ++cq->polls > LOOK_EVERY);
}

static void look(struct local_cq *cq)
{
	struct local_ep *ep;

	cq->polls = 0;
	sock_cq_look(&cq->sock, 0);
	while (cq->sock.lost && (ep = TAILQ_FIRST(&cq->open)))
		local_ep_break(ep, -EBADFD, 0);
}

int local_cq_poll(struct tp_cq *base, struct tp_wc *wc, int n)
{
	struct local_cq *cq = to_cq(base);

	if (sock_cq_awake(&cq->sock))
		cq->polls = LOOK_EVERY;
	if (cq->caller.joined)
		local_caller_awake(cq);
	if (cq->caller.relay)
		local_caller_look(cq);
	if (look_is_due(cq))
		look(cq);
	sock_cq_edges(&cq->sock);
	turns(cq);
	return harvest(cq, wc, n);
}

void local_cq_flush(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->hot); ep; ep = next) {
		next = TAILQ_NEXT(ep, hot_link);
		if (ep->sq.next != ep->sq.q.tail && !ep->sq.stuck)
			local_ep_turn(ep);
	}
}

bool local_cq_has_work(struct local_cq *cq)
{
	struct local_ep *ep;

	if (sock_cq_has_work(&cq->sock) || !TAILQ_EMPTY(&cq->done))
		return true;
	TAILQ_FOREACH(ep, &cq->hot, hot_link)
		if (local_ep_runnable(ep))
			return true;
	return false;
}

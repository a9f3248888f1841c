/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_caller.c - the client of a group of servers. It wakes one server for all requests that it
 * posted while it held back. The server with the last answer wakes the client.
 */
#include <unistd.h>

#include "common/transport/local/local.h"

void local_caller_init(struct local_cq *cq)
{
	cq->caller.gong.fd = cq->caller.page_fd = -1;
	TAILQ_INIT(&cq->caller.owed);
}

void local_caller_fini(struct local_cq *cq)
{
	struct local_caller *c = &cq->caller;

	if (c->gong.fd >= 0)
		close(c->gong.fd);
	if (c->page_fd >= 0)
		close(c->page_fd);
	local_page_unmap(c->page);
	c->gong.fd = c->page_fd = -1;
	c->page = NULL;
}

static bool make_group(struct local_caller *c)
{
	if (local_gong_open(&c->gong))
		return false;
	c->page_fd = local_page_create(&c->page);
	if (c->page_fd >= 0)
		return true;
	close(c->gong.fd);
	c->gong.fd = -1;
	return false;
}

bool local_caller_give(struct local_cq *cq, int *gong, int *page)
{
	struct local_caller *c = &cq->caller;

	if (!c->page && !make_group(c))
		return false;
	*gong = c->gong.fd;
	*page = c->page_fd;
	return true;
}

/* ---- requests ---- */

static bool sleeps(const struct local_ep *ep)
{
	return atomic_load(&ep->out.peer->asleep);
}

bool local_caller_owes(struct local_ep *ep)
{
	struct local_caller *c = &ep->cq->caller;

	if (!c->held)
		return false;
	if (!ep->owed)
		TAILQ_INSERT_TAIL(&c->owed, ep, owed_link);
	ep->owed = true;
	return true;
}

static bool others_sleep(const struct local_cq *cq)
{
	const struct local_ep *ep;

	TAILQ_FOREACH(ep, &cq->open, open_link)
		if (ep->group && ep->state == LOCAL_EP_UP && !ep->owed &&
		    sleeps(ep))
			return true;
	return false;
}

/*
 * The first of several sleeping servers. NULL: there are not two, or the gong would also wake a
 * server without a request.
 */
static struct local_ep *first_of_many(struct local_cq *cq)
{
	struct local_ep *ep, *first = NULL;
	unsigned int n = 0;

	TAILQ_FOREACH(ep, &cq->caller.owed, owed_link) {
		if (!ep->group || !sleeps(ep))
			continue;
		first = first ?: ep;
		n++;
	}
	return n > 1 && !others_sleep(cq) ? first : NULL;
}

static void ring_owed(struct local_cq *cq, bool group_too)
{
	struct local_ep *ep;

	while ((ep = TAILQ_FIRST(&cq->caller.owed))) {
		TAILQ_REMOVE(&cq->caller.owed, ep, owed_link);
		ep->owed = false;
		if (group_too || !ep->group)
			local_ep_ring(ep);
	}
}

void local_cq_hold(struct tp_cq *base)
{
	container_of(base, struct local_cq, sock.cq)->caller.held = true;
}

static void strike(struct local_caller *c)
{
	c->struck = 0;
	local_gong_renew(&c->gong);
}

/*
 * first wakes the others. From time to time we do it ourselves, so that the gong does not fill up.
 */
static void wake_many(struct local_cq *cq, struct local_ep *first)
{
	struct local_caller *c = &cq->caller;

	local_caller_settle(cq);
	if (++c->struck >= LOCAL_STRIKES) {
		strike(c);
		return;
	}
	c->relay = first;
	c->relay_until = 0;
	atomic_store(&first->out.me->relay, 1);
	local_ep_ring(first);
}

void local_cq_release(struct tp_cq *base)
{
	struct local_cq *cq = container_of(base, struct local_cq, sock.cq);
	struct local_ep *first = first_of_many(cq);

	cq->caller.held = false;
	if (first)
		wake_many(cq, first);
	ring_owed(cq, !first);
}

void local_caller_look(struct local_cq *cq)
{
	struct local_caller *c = &cq->caller;

	if (!c->relay)
		return;
	if (!atomic_load(&c->relay->out.me->relay))
		c->relay = NULL;
	else if (!c->relay_until)
		c->relay_until = clock_after_ms(LOCAL_RELAY_MS);
	else if (clock_now() >= c->relay_until)
		local_caller_settle(cq);
}

void local_caller_settle(struct local_cq *cq)
{
	struct local_ep *ep = cq->caller.relay;

	cq->caller.relay = NULL;
	if (ep && atomic_exchange(&ep->out.me->relay, 0))
		strike(&cq->caller);
}

void local_caller_forget(struct local_ep *ep)
{
	struct local_caller *c = &ep->cq->caller;

	if (c->relay == ep)
		local_caller_settle(ep->cq);
	if (ep->owed)
		TAILQ_REMOVE(&c->owed, ep, owed_link);
	ep->owed = false;
}

/* ---- waiting for answers ---- */

void local_caller_join(struct local_ep *ep)
{
	ep->joined = ep->group && ep->hot && ep->cq->caller.page;
	ep->cq->caller.joined |= ep->joined;
}

/* The number of endpoints to count. An endpoint that needs us earlier leaves the joined ones. */
static uint32_t joined(struct local_cq *cq)
{
	struct local_ep *ep;
	uint32_t n = 0;

	TAILQ_FOREACH(ep, &cq->hot, hot_link) {
		ep->joined = local_ep_patient(ep);
		n += ep->joined;
	}
	return n;
}

/* False: this was the last missing answer. */
static bool count_one(struct local_ep *ep)
{
	_Atomic uint32_t *asleep = &ep->in.me->asleep;
	struct local_page *page = ep->cq->caller.page;

	atomic_store(asleep, LOCAL_COUNTED);
	if (!local_ep_runnable(ep))
		return true;
	return atomic_exchange(asleep, 0) != LOCAL_COUNTED ||
	       atomic_fetch_sub(&page->missing, 1) != 1;
}

/*
 * A server that is late with the count of an earlier sleep may end this sleep early. No wake-up is
 * lost.
 */
bool local_caller_count(struct local_cq *cq)
{
	struct local_ep *ep;
	uint32_t n;

	if (!cq->caller.joined)
		return true;
	n = joined(cq);
	if (n)
		atomic_store(&cq->caller.page->missing, n);
	TAILQ_FOREACH(ep, &cq->hot, hot_link)
		if (ep->joined && !count_one(ep))
			return false;
	return true;
}

void local_caller_awake(struct local_cq *cq)
{
	struct local_ep *ep;

	cq->caller.joined = false;
	TAILQ_FOREACH(ep, &cq->hot, hot_link) {
		if (!ep->joined)
			continue;
		ep->joined = false;
		atomic_store(&ep->in.me->asleep, 0);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_group_client.c - the client of a group of servers. For all requests that it posted while it
 * deferred wake-ups, it wakes one server, which wakes the others. The server that sends the last
 * answer wakes the client.
 */
#include <unistd.h>

#include "common/transport/local/local.h"

void local_group_client_init(struct local_cq *cq)
{
	cq->client.wakeup.fd = cq->client.page_fd = -1;
	TAILQ_INIT(&cq->client.deferred);
}

void local_group_client_fini(struct local_cq *cq)
{
	struct local_group_client *c = &cq->client;

	if (c->wakeup.fd >= 0)
		close(c->wakeup.fd);
	if (c->page_fd >= 0)
		close(c->page_fd);
	local_group_page_unmap(c->page);
	c->wakeup.fd = c->page_fd = -1;
	c->page = NULL;
}

static bool group_open(struct local_group_client *c)
{
	if (local_group_wakeup_open(&c->wakeup))
		return false;
	c->page_fd = local_group_page_create(&c->page);
	if (c->page_fd >= 0)
		return true;
	close(c->wakeup.fd);
	c->wakeup.fd = -1;
	return false;
}

bool local_group_client_share(struct local_cq *cq, int *wakeup, int *page)
{
	struct local_group_client *c = &cq->client;

	if (!c->page && !group_open(c))
		return false;
	*wakeup = c->wakeup.fd;
	*page = c->page_fd;
	return true;
}

void local_ep_notify_peer(struct local_ep *ep)
{
	struct local_group_client *c = &ep->cq->client;

	if (!c->holds) {
		local_ep_wake_peer(ep);
		return;
	}
	if (!ep->deferred)
		TAILQ_INSERT_TAIL(&c->deferred, ep, deferred_link);
	ep->deferred = true;
}

/* ---- requests ---- */

static bool peer_sleeps(const struct local_ep *ep)
{
	return atomic_load(&ep->out.peer->asleep);
}

static bool others_sleep(const struct local_cq *cq)
{
	const struct local_ep *ep;

	TAILQ_FOREACH(ep, &cq->open, open_link)
		if (ep->group && ep->state == LOCAL_EP_UP && !ep->deferred &&
		    peer_sleeps(ep))
			return true;
	return false;
}

/*
 * The first of the sleeping servers that have requests. NULL: there are fewer than two, or the
 * wake-up socket would also wake a server without a request.
 */
static struct local_ep *first_of_many(struct local_cq *cq)
{
	struct local_ep *ep, *first = NULL;
	unsigned int n = 0;

	TAILQ_FOREACH(ep, &cq->client.deferred, deferred_link) {
		if (!ep->group || !peer_sleeps(ep))
			continue;
		first = first ?: ep;
		n++;
	}
	return n > 1 && !others_sleep(cq) ? first : NULL;
}

static void notify_deferred(struct local_cq *cq, bool group_too)
{
	struct local_ep *ep;

	while ((ep = TAILQ_FIRST(&cq->client.deferred))) {
		TAILQ_REMOVE(&cq->client.deferred, ep, deferred_link);
		ep->deferred = false;
		if (group_too || !ep->group)
			local_ep_wake_peer(ep);
	}
}

void local_cq_hold(struct tp_cq *base)
{
	container_of(base, struct local_cq, sock.cq)->client.holds = true;
}

static void renew_wakeup(struct local_group_client *c)
{
	c->unread = 0;
	local_group_wakeup_renew(&c->wakeup);
}

/*
 * Wakes `first`, which wakes the others through the wake-up socket. From time to time, we wake all
 * servers ourselves and empty the socket, so that it does not fill up.
 */
static void wake_others_by(struct local_cq *cq, struct local_ep *first)
{
	struct local_group_client *c = &cq->client;

	local_group_client_end_relay(cq);
	if (++c->unread >= LOCAL_WAKEUPS_UNREAD) {
		renew_wakeup(c);
		return;
	}
	c->relay = first;
	c->relay_until = 0;
	atomic_store(&first->out.me->relay, 1);
	local_ep_wake_peer(first);
}

void local_cq_release(struct tp_cq *base)
{
	struct local_cq *cq = container_of(base, struct local_cq, sock.cq);
	struct local_ep *first = first_of_many(cq);

	cq->client.holds = false;
	if (first)
		wake_others_by(cq, first);
	notify_deferred(cq, !first);
}

void local_group_client_check_relay(struct local_cq *cq)
{
	struct local_group_client *c = &cq->client;

	if (!c->relay)
		return;
	if (!atomic_load(&c->relay->out.me->relay))
		c->relay = NULL;
	else if (!c->relay_until)
		c->relay_until = clock_after_ms(LOCAL_RELAY_MS);
	else if (clock_now() >= c->relay_until)
		local_group_client_end_relay(cq);
}

void local_group_client_end_relay(struct local_cq *cq)
{
	struct local_ep *ep = cq->client.relay;

	cq->client.relay = NULL;
	if (ep && atomic_exchange(&ep->out.me->relay, 0))
		renew_wakeup(&cq->client);
}

void local_group_client_forget(struct local_ep *ep)
{
	struct local_group_client *c = &ep->cq->client;

	if (c->relay == ep)
		local_group_client_end_relay(ep->cq);
	if (ep->deferred)
		TAILQ_REMOVE(&c->deferred, ep, deferred_link);
	ep->deferred = false;
}

/* ---- waiting for answers ---- */

void local_group_client_join(struct local_ep *ep)
{
	ep->joined = ep->group && ep->active && ep->cq->client.page;
	ep->cq->client.joined |= ep->joined;
}

/* The number of endpoints to count. An endpoint that needs us earlier leaves the joined ones. */
static uint32_t count_joined(struct local_cq *cq)
{
	struct local_ep *ep;
	uint32_t n = 0;

	TAILQ_FOREACH(ep, &cq->active, active_link) {
		ep->joined = local_ep_answer_may_wait(ep);
		n += ep->joined;
	}
	return n;
}

/*
 * Lets the server of ep count its answer in page->missing.  If the answer is there already, counts
 * it here.  Returns false if this was the last missing answer.
 */
static bool count_one(struct local_ep *ep)
{
	_Atomic uint32_t *asleep = &ep->in.me->asleep;
	struct local_group_page *page = ep->cq->client.page;

	atomic_store(asleep, LOCAL_COUNTED);
	if (!local_ep_has_work(ep))
		return true;
	return atomic_exchange(asleep, 0) != LOCAL_COUNTED ||
	       atomic_fetch_sub(&page->missing, 1) != 1;
}

/*
 * A server that still decrements the count of an earlier sleep may end this sleep early. No wake-up
 * is lost.
 */
bool local_group_client_start_count(struct local_cq *cq)
{
	struct local_ep *ep;
	uint32_t n;

	if (!cq->client.joined)
		return true;
	n = count_joined(cq);
	if (n)
		atomic_store(&cq->client.page->missing, n);
	TAILQ_FOREACH(ep, &cq->active, active_link)
		if (ep->joined && !count_one(ep))
			return false;
	return true;
}

void local_group_client_end_count(struct local_cq *cq)
{
	struct local_ep *ep;

	cq->client.joined = false;
	TAILQ_FOREACH(ep, &cq->active, active_link) {
		if (!ep->joined)
			continue;
		ep->joined = false;
		atomic_store(&ep->in.me->asleep, 0);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_cq.c - the progress context: opening, polling, sleeping. The caller decides whether to poll
 * before it sleeps: it knows whether polling paid off the last time.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/local/local.h"

/* polls between checks of the epoll set, while an endpoint is active */
#define LOOK_EVERY 32u
#define ACTIVE_MANY                                                            \
	16u /* with more active endpoints, idle ones become inactive */
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
	TAILQ_INIT(&cq->active);
	TAILQ_INIT(&cq->done);
	local_group_client_init(cq);
	*out = &cq->sock.cq;
	return 0;
}

void local_cq_close(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	local_group_client_fini(cq);
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
		if (ep->wakeup.fd >= 0)
			close(ep->wakeup.fd);
		if (ep->process >= 0)
			close(ep->process);
		while (ep->npassed)
			close(ep->passed[--ep->npassed]);
	}
	local_group_client_fini(cq);
	sock_cq_fini(&cq->sock);
	if (mrs->fd >= 0)
		close(mrs->fd);
	mrs->fd = -1;
}

/* The other servers of the client's group sleep and have requests. */
static void relay_wakeup(struct local_ep *ep)
{
	if (ep->page && atomic_load(&ep->in.peer->relay) &&
	    atomic_exchange(&ep->in.peer->relay, 0))
		local_group_wakeup_send(&ep->wakeup);
}

/* Ends the endpoint: everything that the peer sent has been read. */
static void connection_ended(struct local_ep *ep, bool said)
{
	const struct local_side *peer = ep->in.peer;
	int status = said ? atomic_load(&peer->status) : 0;
	uint32_t id = said ? atomic_load(&peer->cause) : 0;

	if (!said)
		log_info(ep->ep.dev->log, "%s: closed by its process' end",
			 ep->peer);
	else if (status)
		log_warn(ep->ep.dev->log,
			 "%s: the peer broke the connection (error %d)",
			 ep->peer, status);
	if (status > 0 || status < -4095)
		status = -ECONNRESET;
	local_ep_break(ep, status, id);
}

static void ep_run_turn(struct local_ep *ep)
{
	/* read before the ring: if true, all that the peer sent is there */
	bool said = atomic_load(&ep->in.peer->ended);

	relay_wakeup(ep);
	if (!local_rx(ep))
		return;
	if (said || ep->eof) {
		if (ep->rq.paused ||
		    atomic_load(&ep->in.peer->tail) == ep->in.head)
			connection_ended(ep, said);
		return;
	}
	local_tx(ep, true);
}

static void run_or_deactivate(struct local_cq *cq, struct local_ep *ep)
{
	if (local_ep_has_work(ep)) {
		ep->idle = 0;
		ep_run_turn(ep);
	} else if (cq->nactive > ACTIVE_MANY && ++ep->idle > IDLE_POLLS) {
		local_ep_fall_asleep(ep);
	}
}

/* Gives each active endpoint one turn. A turn may end its own ep, but no other. */
static void run_turns(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->active); ep; ep = next) {
		next = TAILQ_NEXT(ep, active_link);
		run_or_deactivate(cq, ep);
	}
}

static int take_completions(struct local_cq *cq, struct tp_wc *wc, int n)
{
	struct local_ep *ep;
	int total = 0;

	while (total < n && (ep = TAILQ_FIRST(&cq->done))) {
		total += local_completions_take(ep, wc + total, n - total);
		TAILQ_REMOVE(&cq->done, ep, done_link);
		ep->is_done = false;
		local_ep_list_completions(ep);
	}
	return total;
}

static bool check_is_due(struct local_cq *cq)
{
	return cq->sock.nsaved == 0 &&
	       (cq->nactive == 0 || ++cq->polls > LOOK_EVERY);
}

static void check_epoll(struct local_cq *cq)
{
	struct local_ep *ep;

	cq->polls = 0;
	sock_cq_fetch(&cq->sock, 0);
	while (cq->sock.lost && (ep = TAILQ_FIRST(&cq->open)))
		local_ep_break(ep, -EBADFD, 0);
}

int local_cq_poll(struct tp_cq *base, struct tp_wc *wc, int n)
{
	struct local_cq *cq = to_cq(base);

	if (sock_cq_awake(&cq->sock))
		cq->polls = LOOK_EVERY;
	if (cq->client.joined)
		local_group_client_end_count(cq);
	if (cq->client.relay)
		local_group_client_check_relay(cq);
	if (check_is_due(cq))
		check_epoll(cq);
	sock_cq_edges(&cq->sock);
	run_turns(cq);
	return take_completions(cq, wc, n);
}

static void flush_sends(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	for (ep = TAILQ_FIRST(&cq->active); ep; ep = next) {
		next = TAILQ_NEXT(ep, active_link);
		if (ep->sq.next != ep->sq.q.tail && !ep->sq.stuck)
			ep_run_turn(ep);
	}
}

static bool cq_has_work(struct local_cq *cq)
{
	struct local_ep *ep;

	if (sock_cq_has_work(&cq->sock) || !TAILQ_EMPTY(&cq->done))
		return true;
	TAILQ_FOREACH(ep, &cq->active, active_link)
		if (local_ep_has_work(ep))
			return true;
	return false;
}

/* Active endpoints fall asleep and ask for the bell. False: one has something to do. */
static bool all_fall_asleep(struct local_cq *cq)
{
	struct local_ep *ep, *next;

	if (!local_group_client_start_count(cq))
		return false;
	for (ep = TAILQ_FIRST(&cq->active); ep; ep = next) {
		next = TAILQ_NEXT(ep, active_link);
		if (!ep->joined && !local_ep_fall_asleep(ep))
			return false;
	}
	return true;
}

/* The server that should wake the others may be stopped. Then we wake them after LOCAL_RELAY_MS. */
static int sleep_until(struct local_cq *cq, uint64_t deadline)
{
	uint64_t soon;
	int rc;

	local_group_client_check_relay(cq);
	soon = cq->client.relay ? cq->client.relay_until : CLOCK_NEVER;
	if (soon >= deadline)
		return sock_cq_sleep(&cq->sock, deadline);
	rc = sock_cq_sleep(&cq->sock, soon);
	if (rc != -ETIMEDOUT)
		return rc;
	local_group_client_end_relay(cq);
	return sock_cq_sleep(&cq->sock, deadline);
}

int local_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct local_cq *cq = to_cq(base);

	flush_sends(cq);
	if (cq_has_work(cq) || !all_fall_asleep(cq))
		return 0;
	cq->polls = 0;
	return sleep_until(cq, deadline);
}

int local_cq_arm(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	flush_sends(cq);
	cq->polls = UINT32_MAX / 2; /* the next poll checks the epoll set */
	local_group_client_end_relay(cq);
	if (cq_has_work(cq) || !all_fall_asleep(cq))
		return 1;
	return !sock_cq_may_sleep(&cq->sock);
}

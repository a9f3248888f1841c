/* SPDX-License-Identifier: BSD-2-Clause */
/* evict.c - see evict.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/request/caller.h"
#include "mgr/session/caps.h"
#include "mgr/session/evict_int.h"
#include "mgr/jobs/jobs.h"
#include "mgr/session/session.h"

/* The first check comes soon; a long eviction is checked less often. */
#define LOOK_MIN_MS 10u
#define LOOK_MAX_MS 1000u
#define LOOK_PART 8u /* fraction of the time that the answer has taken so far */

/* One EVICT, until all sessions that it has ended are gone. */
struct eviction {
	TAILQ_ENTRY(eviction) link;
	struct request *req; /* NULL: it was answered */
	uint64_t since; /* clock_now() */
	uint32_t n;
	/* when capabilities of these sessions expire, clock_boot() */
	uint64_t expiry;
	/* all iods need the fences up to here; 0: not known yet */
	uint64_t fenced;
	struct ids ids; /* sessions that are not gone yet */
};

/*
 * In order of arrival.  An eviction is complete only after earlier ones, which may have
 * ended the same sessions.
 */
struct evicts {
	struct mgr *mgr;
	struct park park;
	struct rpc_timer timer;
	TAILQ_HEAD(, eviction) all;
};

bool evict_wants(struct mgr *mgr, uint64_t session)
{
	const struct eviction *ev;

	TAILQ_FOREACH(ev, &mgr->evicts->all, link)
		for (size_t i = 0; i < ev->ids.n; i++)
			if (ev->ids.id[i] == session)
				return true;
	return false;
}

static void forget(struct evicts *evicts, struct eviction *ev)
{
	TAILQ_REMOVE(&evicts->all, ev, link);
	free(ev->ids.id);
	free(ev);
}

/* ---- progress ---- */

static bool is_over(struct mgr *mgr, uint64_t id)
{
	struct session_rec rec;

	return !rpc_server_knows(mgr->server, id) &&
	       session_get(mgr->st, id, &rec) == -ENOENT;
}

static void drop_over(struct mgr *mgr, struct ids *ids)
{
	for (size_t i = 0; i < ids->n;)
		if (is_over(mgr, ids->id[i]))
			ids->id[i] = ids->id[--ids->n];
		else
			i++;
}

static size_t left_of(const struct evicts *evicts, const struct eviction *last)
{
	const struct eviction *ev;
	size_t n = 0;

	TAILQ_FOREACH(ev, &evicts->all, link) {
		n += ev->ids.n;
		if (ev == last)
			break;
	}
	return n;
}

/* The iods that have not confirmed the fences.  iod NULL: returns only their number. */
static uint32_t owing(const struct mgr *mgr, const struct eviction *ev,
		      le32 *iod)
{
	uint64_t id = ev->fenced ? ev->fenced : fence_latest(mgr);
	uint32_t n = 0;

	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		if (!fence_is_owed(mgr, i, id))
			continue;
		if (iod)
			iod[n] = htole32(i);
		n++;
	}
	return n;
}

/* ---- the answer ---- */

static uint64_t until(const struct mgr *mgr, const struct eviction *ev)
{
	uint64_t now = clock_boot();

	if (!mgr->conf.auth.caps)
		return 0;
	return ev->expiry > now ? ev->expiry - now : 1;
}

static void put_reply(struct mgr *mgr, const struct eviction *ev,
		      struct wire_out *out)
{
	le32 iod[WIRE_IOD_MAX];
	struct wire_evict_rep rep = {
		.n = htole32(ev->n),
		.left = htole32((uint32_t)left_of(mgr->evicts, ev)),
		.niods = htole32(owing(mgr, ev, iod)),
	};

	if (rep.niods)
		rep.until_ns = htole64(until(mgr, ev));
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, iod, le32toh(rep.niods) * sizeof(iod[0]));
}

static void conclude(struct mgr *mgr, struct eviction *ev)
{
	struct request *req = ev->req;

	ev->req = NULL;
	put_reply(mgr, ev, rpc_reply_begin(req->rpc));
	answer_once(req);
}

/* The answer says what is left; the work continues. */
static void on_late(struct park *park, struct request *req)
{
	struct evicts *evicts = container_of(park, struct evicts, park);
	struct eviction *ev;

	TAILQ_FOREACH(ev, &evicts->all, link)
		if (ev->req == req)
			break;
	if (ev)
		conclude(evicts->mgr, ev);
}

static bool is_done(const struct evicts *evicts, struct eviction *ev)
{
	if (left_of(evicts, ev))
		return false;
	if (!ev->fenced)
		ev->fenced = fence_latest(evicts->mgr);
	return !owing(evicts->mgr, ev, NULL);
}

/* Depends on how long the newest waiting request has waited. */
static uint64_t pause_ms(const struct evicts *evicts)
{
	const struct eviction *ev;
	uint64_t ms = LOOK_MAX_MS;

	TAILQ_FOREACH(ev, &evicts->all, link)
		if (ev->req)
			ms = (clock_now() - ev->since) / CLOCK_NS_PER_MS /
			     LOOK_PART;
	return ms < LOOK_MIN_MS	  ? LOOK_MIN_MS
	       : ms > LOOK_MAX_MS ? LOOK_MAX_MS
				  : ms;
}

static void look_later(struct evicts *evicts)
{
	rpc_timer_clear(evicts->mgr->ctx, &evicts->timer);
	if (!TAILQ_EMPTY(&evicts->all))
		rpc_timer_set(evicts->mgr->ctx, &evicts->timer,
			      clock_after_ms(pause_ms(evicts)));
}

static void look(struct rpc_timer *timer)
{
	struct evicts *evicts = container_of(timer, struct evicts, timer);
	struct mgr *mgr = evicts->mgr;
	struct eviction *ev, *next;

	TAILQ_FOREACH(ev, &evicts->all, link) {
		drop_over(mgr, &ev->ids);
		if (ev->req && is_done(evicts, ev)) {
			park_leave(ev->req);
			conclude(mgr, ev);
		}
	}
	for (ev = TAILQ_FIRST(&evicts->all); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (!ev->req && !ev->ids.n)
			forget(evicts, ev);
	}
	look_later(evicts);
}

/* ---- EVICT ---- */

/* The requests of the session stop waiting. */
static void end(struct mgr *mgr, uint64_t id)
{
	struct request *req;

	LIST_FOREACH(req, &mgr->requests, all)
		if (rpc_session_info(req->rpc->session)->id == id)
			park_hurry(req);
	rpc_server_evict(mgr->server, id);
	session_end_soon(mgr, id);
}

static void say(const struct op *op, const struct eviction *ev)
{
	const struct rpc_session_info *info = rpc_session_info(
		op->rpc->session);

	for (size_t i = 0; i < ev->ids.n; i++)
		log_warn(op->mgr->log,
			 "session %016llx: evicted by %s (%s), uid %u",
			 (unsigned long long)ev->ids.id[i], info->peer,
			 info->cred.name, info->cred.uid);
}

static struct eviction *begin(struct op *op, int *rc)
{
	struct eviction *ev = calloc(1, sizeof(*ev));

	*rc = ev ? evict_choose(op, &ev->ids) : -ENOMEM;
	if (*rc) {
		if (ev)
			free(ev->ids.id);
		free(ev);
		return NULL;
	}
	ev->n = (uint32_t)ev->ids.n;
	ev->expiry = caps_expiry(op->mgr);
	ev->req = op->req;
	ev->since = clock_now();
	return ev;
}

/* Earlier evictions may be incomplete: iods may still accept what ended sessions had open. */
static bool is_owed(const struct evicts *evicts)
{
	const struct eviction none = { 0 };

	return !TAILQ_EMPTY(&evicts->all) || owing(evicts->mgr, &none, NULL);
}

static uint64_t wait_ns(const struct op *op)
{
	const struct wire_evict *body = op->rpc->msg.body;

	return clock_after_ms(le32toh(body->wait_ms));
}

int op_evict(struct op *op)
{
	struct evicts *evicts = op->mgr->evicts;
	struct eviction *ev;
	int rc;

	if (!caller_rules(caller_of(op->rpc->session)))
		return -EPERM;
	ev = begin(op, &rc);
	if (!ev)
		return rc;
	if (!ev->n && !is_owed(evicts)) {
		wire_put(op->out, &(struct wire_evict_rep){ 0 },
			 sizeof(struct wire_evict_rep));
		free(ev);
		return 0;
	}
	TAILQ_INSERT_TAIL(&evicts->all, ev, link);
	say(op, ev);
	for (size_t i = 0; i < ev->ids.n; i++)
		end(op->mgr, ev->ids.id[i]);
	park_wait_until(&evicts->park, op->req, wait_ns(op));
	look_later(evicts);
	return OP_LATER;
}

int evicts_open(struct mgr *mgr)
{
	struct evicts *evicts = calloc(1, sizeof(*evicts));

	if (!evicts)
		return -ENOMEM;
	evicts->mgr = mgr;
	evicts->timer.fire = look;
	TAILQ_INIT(&evicts->all);
	park_init(&evicts->park, RPC_NETWORK, on_late);
	mgr->evicts = evicts;
	return 0;
}

void evicts_close(struct mgr *mgr)
{
	struct eviction *ev;

	if (!mgr->evicts)
		return;
	while ((ev = TAILQ_FIRST(&mgr->evicts->all)))
		forget(mgr->evicts, ev);
	rpc_timer_clear(mgr->ctx, &mgr->evicts->timer);
	free(mgr->evicts);
	mgr->evicts = NULL;
}

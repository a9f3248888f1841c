/* SPDX-License-Identifier: BSD-2-Clause */
/* evict.c - see evict.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/jobs/jobs.h"
#include "mgr/request/caller.h"
#include "mgr/session/evict.h"
#include "mgr/session/caps.h"
#include "mgr/session/session_table.h"

/* ---- the sessions that an EVICT selects ---- */

struct session_ids {
	size_t n, room;
	uint64_t *id;
};

struct evict_selection {
	struct mgr *mgr;
	uint64_t asker, session;
	enum wire_evict_by by;
	uint32_t uid;
	char text[WIRE_EV_TEXT + 1];
	bool local;
	struct networks nets;
	struct session_ids *ids;
	int rc;
};

static int ids_add(struct session_ids *ids, uint64_t id)
{
	size_t room = ids->room ? 2 * ids->room : 16;
	uint64_t *more;

	if (ids->n == ids->room) {
		more = realloc(ids->id, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ids->id = more;
		ids->room = room;
	}
	ids->id[ids->n++] = id;
	return 0;
}

static bool is_of_job(struct rpc_session *session, const char *job)
{
	struct rpc_label label;

	rpc_session_label(session, &label);
	return strlen(job) <= sizeof(label.job) &&
	       !strncmp(label.job, job, sizeof(label.job));
}

static bool is_selected(const struct evict_selection *c,
			struct rpc_session *session)
{
	const struct caller *caller = caller_of(session);

	if (!caller)
		return false; /* another manager */
	switch (c->by) {
	case WIRE_EV_SESSION:
		return caller->id == c->session;
	case WIRE_EV_USER:
		return caller->cred.uid == c->uid;
	case WIRE_EV_JOB:
		return is_of_job(session, c->text);
	default:
		return c->local ? peer_is_here(caller->peer)
				: networks_have(&c->nets, caller->peer);
	}
}

static void select_open(void *arg, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct evict_selection *c = arg;

	if (!c->rc && info->role == WIRE_ROLE_CLIENT && info->id != c->asker &&
	    is_selected(c, session))
		c->rc = ids_add(c->ids, info->id);
}

/* Selects an absent session.  Only its user is known, so it cannot be selected by job or host. */
static int select_absent(void *arg, const struct session_rec *rec)
{
	struct evict_selection *c = arg;

	return c->by == WIRE_EV_USER && rec->uid == c->uid
		       ? ids_add(c->ids, rec->id)
		       : 0;
}

/*
 * Selects the session with the number of the request by its row.  Such a session may be ending, or
 * may have ended while some iods do not know that yet.
 */
static int select_by_row(struct evict_selection *c)
{
	struct session_rec rec;
	int rc = session_get(c->mgr->st, c->session, &rec);

	if (rc == -ENOENT)
		rc = fence_find(c->mgr, c->session);
	if (rc)
		return rc == -ENOENT ? -ESRCH : rc;
	return ids_add(c->ids, c->session);
}

static int read_selection(struct evict_selection *c, const struct rpc_req *rpc)
{
	const struct wire_evict *body = rpc->msg.body;
	const struct wire_tail *text = &rpc->msg.tail[0];

	c->session = le64toh(body->session);
	c->by = le32toh(body->by);
	c->uid = le32toh(body->uid);
	memcpy(c->text, text->ptr, text->len);
	if (c->by == WIRE_EV_SESSION && c->session == c->asker)
		return -EINVAL;
	if (c->by != WIRE_EV_HOST)
		return 0;
	c->local = !strcmp(c->text, "local");
	return c->local ? 0 : networks_parse(c->text, &c->nets);
}

/*
 * The sessions that the request selects, without its own.  -EINVAL: it selects no host, or its own
 * session; -ESRCH: there is no such session; -ENOMEM.  The caller frees ids->id, also after an
 * error.
 */
static int select_sessions(struct mgr_op *op, struct session_ids *ids)
{
	struct evict_selection c = { .mgr = op->mgr,
				     .asker = op->ns.session,
				     .ids = ids };
	int rc = read_selection(&c, op->rpc);

	if (rc)
		return rc;
	rpc_server_each(op->mgr->server, select_open, &c);
	rc = c.rc ? c.rc : absent_walk(op->mgr, select_absent, &c);
	if (!rc && c.by == WIRE_EV_SESSION && !ids->n)
		rc = select_by_row(&c);
	return rc;
}

/* ---- one EVICT ---- */

/*
 * Pauses between two checks of whether the eviction is complete.  They grow with the time that the
 * EVICT has waited.
 */
#define CHECK_MIN_MS 10u
#define CHECK_MAX_MS 1000u
/* the pause is this fraction of the time that the EVICT has waited */
#define CHECK_PART 8u

/* One EVICT, until all sessions that it has selected have ended. */
struct eviction {
	TAILQ_ENTRY(eviction) link;
	struct request *req; /* NULL: it was answered */
	uint64_t since; /* clock_now() */
	uint32_t n;
	/* when capabilities of these sessions expire, clock_boot() */
	uint64_t expiry;
	/* number of the last fence that all iods must have confirmed; 0: not known yet */
	uint64_t fenced;
	struct session_ids ids; /* sessions whose end is not complete */
};

/*
 * Evictions in progress, in order of arrival.  Each completes only after all earlier ones,
 * because these may have ended the same sessions.
 */
struct evicts {
	struct mgr *mgr;
	struct park park;
	struct rpc_timer timer;
	TAILQ_HEAD(, eviction) all;
};

bool eviction_includes(struct mgr *mgr, uint64_t session)
{
	const struct eviction *ev;

	TAILQ_FOREACH(ev, &mgr->evicts->all, link)
		for (size_t i = 0; i < ev->ids.n; i++)
			if (ev->ids.id[i] == session)
				return true;
	return false;
}

static void eviction_free(struct evicts *evicts, struct eviction *ev)
{
	TAILQ_REMOVE(&evicts->all, ev, link);
	free(ev->ids.id);
	free(ev);
}

/* ---- progress ---- */

static bool is_gone(struct mgr *mgr, uint64_t id)
{
	struct session_rec rec;

	return !rpc_server_knows(mgr->server, id) &&
	       session_get(mgr->st, id, &rec) == -ENOENT;
}

static void drop_gone(struct mgr *mgr, struct session_ids *ids)
{
	for (size_t i = 0; i < ids->n;)
		if (is_gone(mgr, ids->id[i]))
			ids->id[i] = ids->id[--ids->n];
		else
			i++;
}

static size_t count_left(const struct evicts *evicts,
			 const struct eviction *last)
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

/*
 * Lists in iod the iods that have not confirmed the fences, and returns their number.  iod may be
 * NULL.
 */
static uint32_t list_owing_iods(const struct mgr *mgr,
				const struct eviction *ev, le32 *iod)
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

static uint64_t ns_until_expiry(const struct mgr *mgr,
				const struct eviction *ev)
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
		.left = htole32((uint32_t)count_left(mgr->evicts, ev)),
		.niods = htole32(list_owing_iods(mgr, ev, iod)),
	};

	if (rep.niods)
		rep.until_ns = htole64(ns_until_expiry(mgr, ev));
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, iod, le32toh(rep.niods) * sizeof(iod[0]));
}

static void eviction_answer(struct mgr *mgr, struct eviction *ev)
{
	struct request *req = ev->req;

	ev->req = NULL;
	put_reply(mgr, ev, rpc_reply_begin(req->rpc));
	answer_once(req);
}

/*
 * Answers an EVICT that has waited for wait_ms.  The reply says what is not complete yet; the
 * eviction continues.
 */
static void on_late(struct park *park, struct request *req)
{
	struct evicts *evicts = container_of(park, struct evicts, park);
	struct eviction *ev;

	TAILQ_FOREACH(ev, &evicts->all, link)
		if (ev->req == req)
			break;
	if (ev)
		eviction_answer(evicts->mgr, ev);
}

static bool is_complete(const struct evicts *evicts, struct eviction *ev)
{
	if (count_left(evicts, ev))
		return false;
	if (!ev->fenced)
		ev->fenced = fence_latest(evicts->mgr);
	return !list_owing_iods(evicts->mgr, ev, NULL);
}

/* Returns the time until the next check of the evictions, from the wait of the newest EVICT. */
static uint64_t check_pause_ms(const struct evicts *evicts)
{
	const struct eviction *ev;
	uint64_t ms = CHECK_MAX_MS;

	TAILQ_FOREACH(ev, &evicts->all, link)
		if (ev->req)
			ms = (clock_now() - ev->since) / CLOCK_NS_PER_MS /
			     CHECK_PART;
	return ms < CHECK_MIN_MS   ? CHECK_MIN_MS
	       : ms > CHECK_MAX_MS ? CHECK_MAX_MS
				   : ms;
}

static void check_later(struct evicts *evicts)
{
	rpc_timer_clear(evicts->mgr->ctx, &evicts->timer);
	if (!TAILQ_EMPTY(&evicts->all))
		rpc_timer_set(evicts->mgr->ctx, &evicts->timer,
			      clock_after_ms(check_pause_ms(evicts)));
}

static void on_check_timer(struct rpc_timer *timer)
{
	struct evicts *evicts = container_of(timer, struct evicts, timer);
	struct mgr *mgr = evicts->mgr;
	struct eviction *ev, *next;

	TAILQ_FOREACH(ev, &evicts->all, link) {
		drop_gone(mgr, &ev->ids);
		if (ev->req && is_complete(evicts, ev)) {
			park_leave(ev->req);
			eviction_answer(mgr, ev);
		}
	}
	for (ev = TAILQ_FIRST(&evicts->all); ev; ev = next) {
		next = TAILQ_NEXT(ev, link);
		if (!ev->req && !ev->ids.n)
			eviction_free(evicts, ev);
	}
	check_later(evicts);
}

/* ---- the operation ---- */

/* Ends the waits of the session's requests, and the session itself. */
static void end_session(struct mgr *mgr, uint64_t id)
{
	struct request *req;

	LIST_FOREACH(req, &mgr->requests, all)
		if (rpc_session_info(req->rpc->session)->id == id)
			park_hurry(req);
	rpc_server_evict(mgr->server, id);
	session_end_soon(mgr, id);
}

static void log_evicted(const struct mgr_op *op, const struct eviction *ev)
{
	const struct rpc_session_info *info = rpc_session_info(
		op->rpc->session);

	for (size_t i = 0; i < ev->ids.n; i++)
		log_warn(op->mgr->log,
			 "session %016llx: evicted by %s (%s), uid %u",
			 (unsigned long long)ev->ids.id[i], info->peer,
			 info->cred.name, info->cred.uid);
}

static struct eviction *eviction_new(struct mgr_op *op, int *rc)
{
	struct eviction *ev = calloc(1, sizeof(*ev));

	*rc = ev ? select_sessions(op, &ev->ids) : -ENOMEM;
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

/*
 * Whether an earlier eviction may be incomplete.  Then iods may still accept requests of sessions
 * that have ended.
 */
static bool is_owed(const struct evicts *evicts)
{
	const struct eviction none = { 0 };

	return !TAILQ_EMPTY(&evicts->all) ||
	       list_owing_iods(evicts->mgr, &none, NULL);
}

static uint64_t wait_ns(const struct mgr_op *op)
{
	const struct wire_evict *body = op->rpc->msg.body;

	return clock_after_ms(le32toh(body->wait_ms));
}

int op_evict(struct mgr_op *op)
{
	struct evicts *evicts = op->mgr->evicts;
	struct eviction *ev;
	int rc;

	if (!caller_is_admin(caller_of(op->rpc->session)))
		return -EPERM;
	ev = eviction_new(op, &rc);
	if (!ev)
		return rc;
	if (!ev->n && !is_owed(evicts)) {
		wire_put(op->out, &(struct wire_evict_rep){ 0 },
			 sizeof(struct wire_evict_rep));
		free(ev);
		return 0;
	}
	TAILQ_INSERT_TAIL(&evicts->all, ev, link);
	log_evicted(op, ev);
	for (size_t i = 0; i < ev->ids.n; i++)
		end_session(op->mgr, ev->ids.id[i]);
	park_wait_until(&evicts->park, op->req, wait_ns(op));
	check_later(evicts);
	return OP_LATER;
}

int evicts_open(struct mgr *mgr)
{
	struct evicts *evicts = calloc(1, sizeof(*evicts));

	if (!evicts)
		return -ENOMEM;
	evicts->mgr = mgr;
	evicts->timer.fire = on_check_timer;
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
		eviction_free(mgr->evicts, ev);
	rpc_timer_clear(mgr->ctx, &mgr->evicts->timer);
	free(mgr->evicts);
	mgr->evicts = NULL;
}

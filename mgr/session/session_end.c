/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.c - the end of a session, in steps: all iods get a fence, unless the client has sent
 * BYE; then the open records and locks are dropped, a few at a time; then the row is deleted.  The
 * row records each step before it begins, so that a restarted manager continues there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/ended_sessions.h"
#include "mgr/jobs/jobs.h"
#include "mgr/session/file_handover.h"
#include "mgr/session/evict.h"
#include "mgr/session/session_table_int.h"

/* ---- the row records the end ---- */

/* A fence whose record in the database is not durable yet.  Only then is it sent to the iods. */
struct pending_fence {
	struct flusher_item item;
	struct mgr *mgr;
	struct intent in;
};

static void on_fence_durable(struct flusher_item *item)
{
	struct pending_fence *p = (struct pending_fence *)item;

	if (fenced_end_add(p->mgr, p->in.id, p->in.session))
		log_error(p->mgr->log,
			  "no memory to end session %016llx; the next start of "
			  "the mgr will",
			  (unsigned long long)p->in.session);
	fences_tell(p->mgr, p->in.id);
	fenced_ends_check(p->mgr);
	free(p);
}

/*
 * Sets flags in the row of the session.  A session without a row gets one: it has changed nothing,
 * or its row was lost.
 */
static int put_flags(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	struct session_rec rec = { .id = id };
	int rc = session_get(mgr->st, id, &rec);
	bool evicted = eviction_includes(mgr, id);

	if (rc == -ENOENT && flags & SESSION_FENCED)
		rc = 0;
	if (evicted)
		flags |= SESSION_EVICTED;
	rec.flags = (rec.flags & (SESSION_DECLARES | SESSION_EVICTED)) | flags;
	return rc ? rc : session_put(mgr->st, &rec);
}

static int set_flags(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = put_flags(mgr, id, flags);
	return mgr_end_transaction(mgr, rc, NULL);
}

/* Also records which iods must get the fence. */
static int put_fence(struct mgr *mgr, struct pending_fence *p)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	p->in.id = store_new_id(mgr->st);
	rc = put_flags(mgr, p->in.session, SESSION_FENCED);
	if (!rc)
		rc = intent_put(mgr->st, &p->in);
	return mgr_end_transaction(mgr, rc, &p->item);
}

/* Begins the end of a session by a fence at all iods. */
static int session_fence(struct mgr *mgr, uint64_t id)
{
	struct pending_fence *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->item.durable = on_fence_durable;
	p->mgr = mgr;
	p->in.kind = INTENT_FENCE;
	p->in.session = id;
	p->in.op = eviction_includes(mgr, id) ? WIRE_EVICT : 0;
	rc = put_fence(mgr, p);
	if (rc)
		free(p);
	return rc;
}

static int begin_drop(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	int rc = set_flags(mgr, id, SESSION_ENDED | flags);

	if (!rc)
		session_drop_later(mgr, id);
	return rc;
}

static void report_error(struct mgr *mgr, uint64_t id, int rc)
{
	if (rc)
		log_error(mgr->log,
			  "session %016llx cannot be ended: %s; the next start "
			  "of the mgr will",
			  (unsigned long long)id, strerror(-rc));
}

void session_end_begin(struct mgr *mgr, uint64_t id, bool clean)
{
	report_error(mgr, id,
		     clean ? begin_drop(mgr, id, SESSION_BYE)
			   : session_fence(mgr, id));
}

void session_end_fenced(struct mgr *mgr, uint64_t id)
{
	report_error(mgr, id, begin_drop(mgr, id, 0));
	adopts_wake(mgr);
}

/* sessions that end in one turn of the manager; each takes a transaction */
#define END_BATCH 16

static void end_one(struct mgr *mgr, const struct offline_session *session)
{
	if (session->timed_out)
		log_warn(mgr->log,
			 "session %016llx: ended, it did not come back after "
			 "the restart",
			 (unsigned long long)session->id);
	session_end_begin(mgr, session->id, false);
}

bool sessions_end_some(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session;

	for (int i = 0; i < END_BATCH; i++) {
		session = TAILQ_FIRST(&table->ending);
		if (!session)
			return false;
		TAILQ_REMOVE(&table->ending, session, link);
		end_one(mgr, session);
		free(session);
	}
	return !TAILQ_EMPTY(&table->ending);
}

/* ---- open records and locks are dropped ---- */

#define DROP_BATCH 32 /* open records per transaction; each is several rows */
#define RETRY_S 10u /* after an error, for example of a full disk */

static void on_retry(struct rpc_timer *timer)
{
	struct session_table *table = container_of(timer, struct session_table,
						   retry);

	TAILQ_CONCAT(&table->dropping, &table->failed, link);
	if (table->unsettled)
		table->mgr->ns.holds.later = true;
}

void session_drops_open(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;

	TAILQ_INIT(&table->dropping);
	TAILQ_INIT(&table->failed);
	table->retry.fire = on_retry;
}

static void retry_later(struct mgr *mgr)
{
	struct rpc_timer *timer = &mgr->sessions->retry;

	if (!timer->armed)
		rpc_timer_set(mgr->ctx, timer, clock_after_ms(RETRY_S * 1000));
}

void session_drop_later(struct mgr *mgr, uint64_t id)
{
	struct offline_session *session = calloc(1, sizeof(*session));

	ns_session_ended(&mgr->ns, id);
	if (!session) { /* the row stays, so the next start ends the session */
		log_error(mgr->log, "no memory to end session %016llx",
			  (unsigned long long)id);
		return;
	}
	session->id = id;
	TAILQ_INSERT_TAIL(&mgr->sessions->dropping, session, link);
}

/*
 * Deletes the row and the stored replies of the session.  Without the replies, a repeated request
 * would be executed a second time.  So a record of the ended session replaces the row, and the
 * manager rejects the session.  After BYE no record is needed, because the client sends nothing
 * more.
 */
static int drop_row(struct mgr *mgr, uint64_t id)
{
	struct ended_session ended_session = { .session = id,
					       .ended = clock_wall() };
	struct session_rec rec;
	int rc;

	rc = session_get(mgr->st, id, &rec);
	ended_session.evicted = !rc && rec.flags & SESSION_EVICTED;
	if (!rc && !(rec.flags & SESSION_BYE))
		rc = ended_session_add(mgr->st, ++mgr->sessions->last_ended,
				       &ended_session, RPC_FENCE_MAX);
	return rc ? rc : session_del(mgr->st, id);
}

/*
 * Deletes some opens of the session, or some locks if it has no opens any more.  0: there may be
 * more.  -ENOENT: nothing was left, and the row of the session was deleted, too.
 */
static int drop_some(struct mgr *mgr, uint64_t id)
{
	struct ns_op op = mgr_own_op(mgr);
	int rc = 0;

	for (int i = 0; !rc && i < DROP_BATCH; i++)
		rc = ns_drop_open(&op, id);
	if (rc == -ENOENT)
		rc = ns_drop_locks(&op, id);
	if (rc != -ENOENT)
		return rc;
	rc = drop_row(mgr, id);
	return rc ? rc : -ENOENT;
}

/* As drop_some(), in a transaction. */
static int drop_in_transaction(struct mgr *mgr, uint64_t id)
{
	int rc, done;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	done = drop_some(mgr, id);
	rc = mgr_end_transaction(mgr, done == -ENOENT ? 0 : done, NULL);
	return rc ? rc : done;
}

static void retry_drop(struct mgr *mgr, struct offline_session *session, int rc)
{
	if (!session->logged)
		log_error(mgr->log,
			  "session %016llx has ended, but its open files and "
			  "locks cannot be dropped: %s; the manager tries it "
			  "again every %u s",
			  (unsigned long long)session->id, strerror(-rc),
			  RETRY_S);
	session->logged = true;
	TAILQ_INSERT_TAIL(&mgr->sessions->failed, session, link);
	retry_later(mgr);
}

bool sessions_drop_some(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session = TAILQ_FIRST(&table->dropping);
	int rc = 0;

	if (!session)
		return false;
	/* a session with many records does not delay later ones */
	TAILQ_REMOVE(&table->dropping, session, link);
	if (!ns_forget_holds(&mgr->ns, session->id))
		rc = drop_in_transaction(mgr, session->id);
	if (!rc)
		TAILQ_INSERT_TAIL(&table->dropping, session, link);
	else if (rc == -ENOENT)
		free(session);
	else
		retry_drop(mgr, session, rc);
	return !TAILQ_EMPTY(&table->dropping);
}

static int remove_one_unheld(struct mgr *mgr)
{
	struct ns_op op = mgr_own_op(mgr);
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = ns_remove_later(&op);
	return mgr_end_transaction(mgr, rc, NULL);
}

bool sessions_remove_unheld(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct holds *h = &mgr->ns.holds;
	bool more = ns_tidy_holds(&mgr->ns);
	int rc;

	if (!h->later || h->missing)
		return more;
	rc = remove_one_unheld(mgr);
	if (rc && rc != -ENOENT) {
		if (!table->unsettled)
			log_error(mgr->log,
				  "files without a name cannot be removed: %s; "
				  "the manager tries it again every %u s",
				  strerror(-rc), RETRY_S);
		retry_later(mgr);
	}
	h->later = !rc;
	table->unsettled = rc && rc != -ENOENT;
	return h->later || more;
}

void session_drops_close(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session;

	rpc_timer_clear(mgr->ctx, &table->retry);
	TAILQ_CONCAT(&table->dropping, &table->failed, link);
	while ((session = TAILQ_FIRST(&table->dropping))) {
		TAILQ_REMOVE(&table->dropping, session, link);
		free(session);
	}
}

/* ---- start and stop ---- */

static int load_session(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;
	int rc = 0;

	if (rec->flags & SESSION_DECLARES && !(rec->flags & SESSION_ENDED))
		rc = ns_expect_declare(&mgr->ns, rec->id);
	if (rc)
		return rc;
	if (rec->flags & SESSION_FENCED)
		return offline_add(&mgr->sessions->fenced, rec->id);
	if (rec->flags & SESSION_ENDED)
		session_drop_later(mgr, rec->id);
	else
		return offline_add(&mgr->sessions->absent, rec->id);
	return 0;
}

/* Continues the fences of the sessions in the order in which they ended. */
static int resume_one(struct mgr *mgr, const struct intent *in)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session;

	HASH_FIND(hh, table->fenced, &in->session, sizeof(in->session),
		  session);
	if (!session)
		return 0;
	HASH_DEL(table->fenced, session);
	free(session);
	return fenced_end_add(mgr, in->id, in->session);
}

static int resume_ends(struct mgr *mgr)
{
	struct intent in = { .id = 0 };
	int rc;

	while (!(rc = intent_next(mgr->st, INTENT_FENCE, in.id, &in))) {
		rc = resume_one(mgr, &in);
		if (rc)
			return rc;
	}
	return rc == -ENOENT ? 0 : rc;
}

/*
 * Fences the sessions whose rows say FENCED but that have no intent: all iods had confirmed the
 * fence, or an earlier release did not record which iods need it.
 */
static int fence_others(struct mgr *mgr)
{
	struct offline_session *session, *next;
	int rc = 0;

	HASH_ITER(hh, mgr->sessions->fenced, session, next) {
		HASH_DEL(mgr->sessions->fenced, session);
		if (!rc)
			rc = session_fence(mgr, session->id);
		free(session);
	}
	return rc;
}

int sessions_open(struct mgr *mgr)
{
	struct session_table *table = calloc(1, sizeof(*table));
	int rc;

	if (!table)
		return -ENOMEM;
	mgr->sessions = table;
	table->mgr = mgr;
	session_drops_open(mgr);
	TAILQ_INIT(&table->ending);
	absent_open(mgr);
	rc = session_walk(mgr->st, load_session, mgr);
	if (!rc)
		rc = resume_ends(mgr);
	if (!rc)
		rc = fence_others(mgr);
	if (!rc)
		fenced_ends_check(mgr);
	return rc;
}

static int reject_one(void *arg, const struct ended_session *ended_session)
{
	struct mgr *mgr = arg;

	if (ended_session->evicted)
		rpc_server_evict(mgr->server, ended_session->session);
	else
		rpc_server_fence(mgr->server, ended_session->session);
	return 0;
}

/* Rejects a session whose end is not complete.  It stays rejected after its row is gone. */
static int reject_ended_row(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;

	if (rec->flags & SESSION_EVICTED)
		rpc_server_evict(mgr->server, rec->id);
	else if (rec->flags & SESSION_OVER)
		rpc_server_fence(mgr->server, rec->id);
	return 0;
}

int sessions_reject_ended(struct mgr *mgr)
{
	int rc = ended_session_walk(mgr->st, reject_one, mgr,
				    &mgr->sessions->last_ended);

	return rc ? rc : session_walk(mgr->st, reject_ended_row, mgr);
}

void sessions_close(struct mgr *mgr)
{
	if (!mgr->sessions)
		return;
	absent_close(mgr);
	session_drops_close(mgr);
	free(mgr->sessions);
	mgr->sessions = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_reap.c - drops what an ended session had open, in small steps.  The row goes
 * last, so that the next start can continue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/session/session_int.h"
#include "mgr/db/ended_sessions.h"

#define REAP_BATCH 32 /* open records per transaction; each is several rows */
#define TOMB_DAYS 7
#define RETRY_S 10u /* after an error, for example of a full disk */

static void on_retry(struct rpc_timer *timer)
{
	struct session_table *table = container_of(timer, struct session_table,
						   retry);

	TAILQ_CONCAT(&table->reap, &table->failed, link);
	if (table->unsettled)
		table->mgr->ns.holds.later = true;
}

void reap_open(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;

	TAILQ_INIT(&table->reap);
	TAILQ_INIT(&table->failed);
	table->retry.fire = on_retry;
}

static void retry_later(struct mgr *mgr)
{
	struct rpc_timer *timer = &mgr->sessions->retry;

	if (!timer->armed)
		rpc_timer_set(mgr->ctx, timer, clock_after_ms(RETRY_S * 1000));
}

void reap_later(struct mgr *mgr, uint64_t id)
{
	struct gone *gone = calloc(1, sizeof(*gone));

	ns_session_over(&mgr->ns, id);
	if (!gone) { /* the row stays, so the next start ends the session */
		log_error(mgr->log, "no memory to end session %016llx",
			  (unsigned long long)id);
		return;
	}
	gone->id = id;
	TAILQ_INSERT_TAIL(&mgr->sessions->reap, gone, link);
}

/*
 * The stored replies are deleted with the row.  After that, a repeated request of the
 * session would be executed a second time.  So a tombstone replaces the row, unless the
 * session has said BYE and sends nothing more.
 */
static int drop_row(struct mgr *mgr, uint64_t id)
{
	static const struct ended_session_limit limit = {
		.max = RPC_FENCE_MAX,
		.keep = TOMB_DAYS * INT64_C(86400000000000),
	};
	struct ended_session ended_session = { .session = id,
					       .ended = clock_wall() };
	struct session_rec rec;
	int rc;

	rc = session_get(mgr->st, id, &rec);
	ended_session.evicted = !rc && rec.flags & SESSION_EVICTED;
	if (!rc && !(rec.flags & SESSION_BYE))
		rc = ended_session_add(mgr->st, ++mgr->sessions->tombs,
				       &ended_session, &limit);
	return rc ? rc : session_del(mgr->st, id);
}

/* -ENOENT: nothing is left, and the row is deleted too. */
static int drop_some(struct mgr *mgr, uint64_t id)
{
	struct ns_op op = mgr_own_op(mgr);
	int rc = 0;

	for (int i = 0; !rc && i < REAP_BATCH; i++)
		rc = ns_drop_open(&op, id);
	if (rc == -ENOENT)
		rc = ns_drop_locks(&op, id);
	if (rc != -ENOENT)
		return rc;
	rc = drop_row(mgr, id);
	return rc ? rc : -ENOENT;
}

/* 0: there is more to do. */
static int reap_some(struct mgr *mgr, uint64_t id)
{
	int rc, done;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	done = drop_some(mgr, id);
	if (done && done != -ENOENT) {
		ns_abort(&mgr->ns);
		return done;
	}
	rc = mgr_commit(mgr, NULL);
	return rc ? rc : done;
}

static void put_off(struct mgr *mgr, struct gone *gone, int rc)
{
	if (!gone->said)
		log_error(mgr->log,
			  "session %016llx has ended, but its open files and "
			  "locks cannot be dropped: %s; the manager tries it "
			  "again every %u s",
			  (unsigned long long)gone->id, strerror(-rc), RETRY_S);
	gone->said = true;
	TAILQ_INSERT_TAIL(&mgr->sessions->failed, gone, link);
	retry_later(mgr);
}

bool sessions_reap(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone = TAILQ_FIRST(&table->reap);
	int rc = 0;

	if (!gone)
		return false;
	/* a session with many records does not delay later ones */
	TAILQ_REMOVE(&table->reap, gone, link);
	if (!ns_forget_holds(&mgr->ns, gone->id))
		rc = reap_some(mgr, gone->id);
	if (!rc)
		TAILQ_INSERT_TAIL(&table->reap, gone, link);
	else if (rc == -ENOENT)
		free(gone);
	else
		put_off(mgr, gone, rc);
	return !TAILQ_EMPTY(&table->reap);
}

static int remove_later(struct mgr *mgr)
{
	struct ns_op op = mgr_own_op(mgr);
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = ns_remove_later(&op);
	if (!rc)
		return mgr_commit(mgr, NULL);
	ns_abort(&mgr->ns);
	return rc;
}

bool sessions_settle(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct holds *h = &mgr->ns.holds;
	bool more = ns_tidy_holds(&mgr->ns);
	int rc;

	if (!h->later || h->missing)
		return more;
	rc = remove_later(mgr);
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

void reap_close(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone;

	rpc_timer_clear(mgr->ctx, &table->retry);
	TAILQ_CONCAT(&table->reap, &table->failed, link);
	while ((gone = TAILQ_FIRST(&table->reap))) {
		TAILQ_REMOVE(&table->reap, gone, link);
		free(gone);
	}
}

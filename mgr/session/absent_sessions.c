/* SPDX-License-Identifier: BSD-2-Clause */
/* absent_sessions.c - sessions that have not reconnected since the manager started. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/session/session_table_int.h"

#define LEADER_WAIT_MS 100

int offline_add(struct offline_session **table, uint64_t id)
{
	struct offline_session *session = calloc(1, sizeof(*session));

	if (!session)
		return -ENOMEM;
	session->id = id;
	HASH_ADD(hh, *table, id, sizeof(session->id), session);
	if (session->hh.tbl)
		return 0;
	free(session);
	return -ENOMEM;
}

void absent_remove(struct mgr *mgr, uint64_t id)
{
	struct offline_session *session;

	HASH_FIND(hh, mgr->sessions->absent, &id, sizeof(id), session);
	if (!session)
		return;
	HASH_DEL(mgr->sessions->absent, session);
	free(session);
}

static struct session_table *table_of(struct rpc_timer *timer)
{
	return container_of(timer, struct session_table, ttl);
}

static void note_declared(void *arg, struct rpc_session *session)
{
	struct mgr *mgr = arg;

	ns_all_declared(&mgr->ns, rpc_session_info(session)->id);
}

/* A session that reconnected in time has had this time once more to declare its holds. */
static void on_declare_timeout(struct rpc_timer *timer)
{
	struct mgr *mgr = table_of(timer)->mgr;

	if (mgr->ns.holds.missing)
		log_warn(mgr->log,
			 "%u sessions have not said since the restart which "
			 "files they hold; those that are here are not waited "
			 "for any more",
			 mgr->ns.holds.missing);
	rpc_server_each(mgr->server, note_declared, mgr);
}

static void on_ttl(struct rpc_timer *timer)
{
	struct session_table *table = table_of(timer);
	struct mgr *mgr = table->mgr;
	struct offline_session *session, *next;

	if (!flusher_leads(
		    mgr->fl)) { /* they may have returned to the leader */
		rpc_timer_set(mgr->ctx, timer, clock_after_ms(LEADER_WAIT_MS));
		return;
	}
	HASH_ITER(hh, table->absent, session, next) {
		HASH_DEL(table->absent, session);
		rpc_server_fence(mgr->server, session->id);
		session->timed_out = true;
		TAILQ_INSERT_TAIL(&table->ending, session, link);
	}
	timer->fire = on_declare_timeout;
	rpc_timer_set(mgr->ctx, timer,
		      clock_after_ms(mgr->conf.session_ttl_ms));
}

void session_end_soon(struct mgr *mgr, uint64_t id)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session;

	rpc_server_fence(mgr->server, id); /* closes it, if it is connected */
	HASH_FIND(hh, table->absent, &id, sizeof(id), session);
	if (!session)
		return;
	HASH_DEL(table->absent, session);
	TAILQ_INSERT_TAIL(&table->ending, session, link);
}

int session_end_unrecorded(struct mgr *mgr, uint64_t id)
{
	int rc = offline_add(&mgr->sessions->absent, id);

	if (rc)
		return rc;
	log_warn(mgr->log,
		 "session %016llx: ended, the database is older than its open "
		 "files or locks: it was restored from a copy",
		 (unsigned long long)id);
	session_end_soon(mgr, id);
	return -ESTALE;
}

int absent_walk(struct mgr *mgr,
		int (*fn)(void *arg, const struct session_rec *rec), void *arg)
{
	struct session_rec rec;
	struct offline_session *session, *next;
	int rc = 0;

	HASH_ITER(hh, mgr->sessions->absent, session, next) {
		rc = session_get(mgr->st, session->id, &rec);
		if (!rc)
			rc = fn(arg, &rec);
		if (rc && rc != -ENOENT)
			return rc;
	}
	return 0;
}

void absent_open(struct mgr *mgr)
{
	struct rpc_timer *ttl = &mgr->sessions->ttl;

	ttl->fire = on_ttl;
	rpc_timer_set(mgr->ctx, ttl, clock_after_ms(mgr->conf.session_ttl_ms));
}

void absent_close(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct offline_session *session, *next;

	rpc_timer_clear(mgr->ctx, &table->ttl);
	while ((session = TAILQ_FIRST(&table->ending))) {
		TAILQ_REMOVE(&table->ending, session, link);
		free(session);
	}
	HASH_ITER(hh, table->absent, session, next) {
		HASH_DEL(table->absent, session);
		free(session);
	}
}

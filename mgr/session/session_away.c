/* SPDX-License-Identifier: BSD-2-Clause */
/* session_away.c - sessions that have not reconnected since the manager started. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/session/session_int.h"

#define END_BATCH 16 /* per turn of the manager; each is a transaction */

void away_remove(struct mgr *mgr, uint64_t id)
{
	struct gone *gone;

	HASH_FIND(hh, mgr->sessions->away, &id, sizeof(id), gone);
	if (!gone)
		return;
	HASH_DEL(mgr->sessions->away, gone);
	free(gone);
}

static struct session_table *table_of(struct rpc_timer *timer)
{
	return container_of(timer, struct session_table, ttl);
}

static void has_said_all(void *arg, struct rpc_session *session)
{
	struct mgr *mgr = arg;

	ns_declared(&mgr->ns, rpc_session_info(session)->id);
}

/* A session that reconnected in time has had this time once more to declare its holds. */
static void wait_no_more(struct rpc_timer *timer)
{
	struct mgr *mgr = table_of(timer)->mgr;

	if (mgr->ns.holds.missing)
		log_warn(mgr->log,
			 "%u sessions have not said since the restart which "
			 "files they hold; those that are here are not waited "
			 "for any more",
			 mgr->ns.holds.missing);
	rpc_server_each(mgr->server, has_said_all, mgr);
}

static void too_long(struct rpc_timer *timer)
{
	struct session_table *table = table_of(timer);
	struct mgr *mgr = table->mgr;
	struct gone *gone, *next;

	HASH_ITER(hh, table->away, gone, next) {
		HASH_DEL(table->away, gone);
		rpc_server_fence(mgr->server, gone->id);
		gone->late = true;
		TAILQ_INSERT_TAIL(&table->over, gone, link);
	}
	timer->fire = wait_no_more;
	rpc_timer_set(mgr->ctx, timer,
		      clock_after_ms(mgr->conf.session_ttl_ms));
}

void session_end_soon(struct mgr *mgr, uint64_t id)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone;

	rpc_server_fence(mgr->server, id); /* closes it, if it is connected */
	HASH_FIND(hh, table->away, &id, sizeof(id), gone);
	if (!gone)
		return;
	HASH_DEL(table->away, gone);
	TAILQ_INSERT_TAIL(&table->over, gone, link);
}

static void end_one(struct mgr *mgr, const struct gone *gone)
{
	if (gone->late)
		log_warn(mgr->log,
			 "session %016llx: ended, it did not come back after "
			 "the restart",
			 (unsigned long long)gone->id);
	session_over(mgr, gone->id, false);
}

bool sessions_end(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone;

	for (int i = 0; i < END_BATCH; i++) {
		gone = TAILQ_FIRST(&table->over);
		if (!gone)
			return false;
		TAILQ_REMOVE(&table->over, gone, link);
		end_one(mgr, gone);
		free(gone);
	}
	return !TAILQ_EMPTY(&table->over);
}

int sessions_away(struct mgr *mgr,
		  int (*fn)(void *arg, const struct session_rec *rec),
		  void *arg)
{
	struct session_rec rec;
	struct gone *gone, *next;
	int rc = 0;

	HASH_ITER(hh, mgr->sessions->away, gone, next) {
		rc = session_get(mgr->st, gone->id, &rec);
		if (!rc)
			rc = fn(arg, &rec);
		if (rc && rc != -ENOENT)
			return rc;
	}
	return 0;
}

void away_start(struct mgr *mgr)
{
	struct rpc_timer *ttl = &mgr->sessions->ttl;

	ttl->fire = too_long;
	rpc_timer_set(mgr->ctx, ttl, clock_after_ms(mgr->conf.session_ttl_ms));
}

void away_close(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone, *next;

	rpc_timer_clear(mgr->ctx, &table->ttl);
	while ((gone = TAILQ_FIRST(&table->over))) {
		TAILQ_REMOVE(&table->over, gone, link);
		free(gone);
	}
	HASH_ITER(hh, table->away, gone, next) {
		HASH_DEL(table->away, gone);
		free(gone);
	}
}

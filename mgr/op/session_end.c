/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.c - the ends of sessions.  The row says what is to be done
 * before it is begun, and goes last, so that the next start can carry on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "opens.h"
#include "session_table.h"

#define REAP_BATCH 64 /* open records dropped in one transaction */

/* A fence that has to be durable before it is carried out. */
struct pending {
	struct flusher_item item;
	struct mgr *mgr;
	uint64_t id;
};

static void reap_later(struct mgr *mgr, uint64_t id)
{
	struct gone *gone = calloc(1, sizeof(*gone));

	if (!gone) { /* the row stays, the next start sees it */
		log_error(mgr->log, "no memory to end session %016llx",
			  (unsigned long long)id);
		return;
	}
	gone->id = id;
	TAILQ_INSERT_TAIL(&mgr->sessions->reap, gone, link);
}

static void pending_durable(struct flusher_item *item)
{
	struct pending *p = (struct pending *)item;

	fence_start(p->mgr, p->id);
	free(p);
}

static int set_flags(struct mgr *mgr, uint64_t id, uint32_t flags,
		     struct flusher_item *item)
{
	struct session_rec rec;
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = session_get(mgr->st, id, &rec);
	rec.flags = flags;
	if (!rc)
		rc = session_put(mgr->st, &rec);
	if (!rc)
		return mgr_commit(mgr, item);
	ns_abort(&mgr->ns);
	return rc;
}

static void fence(struct mgr *mgr, uint64_t id)
{
	struct pending *p = calloc(1, sizeof(*p));
	int rc = -ENOMEM;

	if (p) {
		p->item.durable = pending_durable;
		p->mgr = mgr;
		p->id = id;
		rc = set_flags(mgr, id, SESSION_FENCED, &p->item);
	}
	if (!rc)
		return;
	log_error(mgr->log, "session %016llx cannot be ended: %s",
		  (unsigned long long)id, strerror(-rc));
	free(p);
}

void session_over(struct mgr *mgr, uint64_t id, bool clean)
{
	struct open_rec rec;
	int rc = open_any(mgr->st, id, &rec);

	if (!rc && !clean) {
		fence(mgr, id);
		return;
	}
	if (!set_flags(mgr, id, SESSION_ENDED, NULL))
		reap_later(mgr, id);
}

void session_fenced(struct mgr *mgr, uint64_t id)
{
	reap_later(mgr, id);
}

/* -ENOENT: there is no more, and the row is gone, too. */
static int drop_some(struct mgr *mgr, uint64_t id)
{
	struct ns_op op = mgr_own_op(mgr);
	int rc = 0;

	for (int i = 0; !rc && i < REAP_BATCH; i++)
		rc = ns_drop_open(&op, id);
	if (rc != -ENOENT)
		return rc;
	rc = session_del(mgr->st, id);
	return rc ? rc : -ENOENT;
}

/* 0: more to do. */
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

bool sessions_reap(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone = TAILQ_FIRST(&table->reap);

	if (!gone)
		return false;
	if (reap_some(mgr, gone->id)) {
		TAILQ_REMOVE(&table->reap, gone, link);
		free(gone);
	}
	return !TAILQ_EMPTY(&table->reap);
}

static void away_too_long(struct rpc_timer *timer)
{
	struct session_table *table =
		(struct session_table *)(void *)((char *)timer -
						 offsetof(struct session_table,
							  ttl));
	struct gone *gone, *next;

	HASH_ITER(hh, table->away, gone, next) {
		log_warn(table->mgr->log,
			 "session %016llx: ended, it did not come back after "
			 "the restart",
			 (unsigned long long)gone->id);
		HASH_DEL(table->away, gone);
		rpc_server_fence(table->mgr->server, gone->id);
		session_over(table->mgr, gone->id, false);
		free(gone);
	}
}

static int take_up(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;
	struct gone *gone;

	if (rec->flags & SESSION_FENCED) {
		fence_start(mgr, rec->id);
		return 0;
	}
	gone = calloc(1, sizeof(*gone));
	if (!gone)
		return -ENOMEM;
	gone->id = rec->id;
	if (rec->flags & SESSION_ENDED)
		TAILQ_INSERT_TAIL(&mgr->sessions->reap, gone, link);
	else
		HASH_ADD(hh, mgr->sessions->away, id, sizeof(gone->id), gone);
	return 0;
}

int sessions_open(struct mgr *mgr)
{
	struct session_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	mgr->sessions = table;
	table->mgr = mgr;
	TAILQ_INIT(&table->reap);
	table->ttl.fire = away_too_long;
	rpc_timer_set(mgr->ctx, &table->ttl,
		      clock_after_ms(mgr->conf.session_ttl_ms));
	return session_walk(mgr->st, take_up, mgr);
}

void sessions_close(struct mgr *mgr)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone, *next;

	if (!table)
		return;
	rpc_timer_clear(mgr->ctx, &table->ttl);
	HASH_ITER(hh, table->away, gone, next) {
		HASH_DEL(table->away, gone);
		free(gone);
	}
	while ((gone = TAILQ_FIRST(&table->reap))) {
		TAILQ_REMOVE(&table->reap, gone, link);
		free(gone);
	}
	free(table);
	mgr->sessions = NULL;
}

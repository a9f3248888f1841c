/* SPDX-License-Identifier: BSD-2-Clause */
/* session_table.c - loads the sessions of the previous run of the manager. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/jobs/jobs.h"
#include "mgr/session/session_int.h"
#include "mgr/db/ended_sessions.h"

static int gone_add(struct gone **table, uint64_t id)
{
	struct gone *gone = calloc(1, sizeof(*gone));

	if (!gone)
		return -ENOMEM;
	gone->id = id;
	HASH_ADD(hh, *table, id, sizeof(gone->id), gone);
	if (gone->hh.tbl)
		return 0;
	free(gone);
	return -ENOMEM;
}

static int take_up(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;
	int rc = 0;

	if (rec->flags & SESSION_DECLARES && !(rec->flags & SESSION_ENDED))
		rc = ns_undeclared(&mgr->ns, rec->id);
	if (rc)
		return rc;
	if (rec->flags & SESSION_FENCED)
		return gone_add(&mgr->sessions->fenced, rec->id);
	if (rec->flags & SESSION_ENDED)
		reap_later(mgr, rec->id);
	else
		return gone_add(&mgr->sessions->away, rec->id);
	return 0;
}

/* The iods are told in the order in which the ends were decided. */
static int resume_one(struct mgr *mgr, const struct intent *in)
{
	struct session_table *table = mgr->sessions;
	struct gone *gone;

	HASH_FIND(hh, table->fenced, &in->session, sizeof(in->session), gone);
	if (!gone)
		return 0;
	HASH_DEL(table->fenced, gone);
	free(gone);
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

/* All iods had the fence, or an earlier version did not record which iods need it. */
static int fence_others(struct mgr *mgr)
{
	struct gone *gone, *next;
	int rc = 0;

	HASH_ITER(hh, mgr->sessions->fenced, gone, next) {
		HASH_DEL(mgr->sessions->fenced, gone);
		if (!rc)
			rc = session_fence(mgr, gone->id);
		free(gone);
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
	reap_open(mgr);
	TAILQ_INIT(&table->over);
	away_start(mgr);
	rc = session_walk(mgr->st, take_up, mgr);
	if (!rc)
		rc = resume_ends(mgr);
	if (!rc)
		rc = fence_others(mgr);
	if (!rc)
		fenced_ends_check(mgr);
	return rc;
}

static int refuse(void *arg, const struct ended_session *ended_session)
{
	struct mgr *mgr = arg;

	if (ended_session->evicted)
		rpc_server_evict(mgr->server, ended_session->session);
	else
		rpc_server_fence(mgr->server, ended_session->session);
	return 0;
}

/* A session whose end is incomplete is rejected because of its row; this adds the reason. */
static int refuse_row(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;

	if (rec->flags & SESSION_EVICTED)
		rpc_server_evict(mgr->server, rec->id);
	return 0;
}

int sessions_refuse(struct mgr *mgr)
{
	int rc = ended_session_walk(mgr->st, refuse, mgr,
				    &mgr->sessions->tombs);

	return rc ? rc : session_walk(mgr->st, refuse_row, mgr);
}

void sessions_close(struct mgr *mgr)
{
	if (!mgr->sessions)
		return;
	away_close(mgr);
	reap_close(mgr);
	free(mgr->sessions);
	mgr->sessions = NULL;
}

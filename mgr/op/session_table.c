/* SPDX-License-Identifier: BSD-2-Clause */
/* session_table.c - takes up the sessions that the last life of the mgr had. */
#include <errno.h>
#include <stdlib.h>

#include "jobs.h"
#include "session_table.h"
#include "tombs.h"

static int take_up(void *arg, const struct session_rec *rec)
{
	struct mgr *mgr = arg;

	if (rec->flags & SESSION_FENCED)
		fence_start(mgr, rec->id);
	else if (rec->flags & SESSION_ENDED)
		reap_later(mgr, rec->id);
	else
		return away_add(mgr, rec->id);
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
	away_start(mgr);
	return session_walk(mgr->st, take_up, mgr);
}

static int refuse(void *arg, uint64_t session)
{
	struct mgr *mgr = arg;

	rpc_server_fence(mgr->server, session);
	return 0;
}

int sessions_refuse(struct mgr *mgr)
{
	return tomb_walk(mgr->st, refuse, mgr, &mgr->sessions->tombs);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* session_table_int.h - the state of session_table.h, and functions that its files share. */
#ifndef SESSION_TABLE_INT_H
#define SESSION_TABLE_INT_H

#include "common/util/hash_table.h"
#include "mgr/session/session_table.h"

/* A session that has a row, but no connection: absent, or ended. */
struct offline_session {
	UT_hash_handle hh; /* by id; in `absent` and `fenced` */
	/* only if it has ended: in `ending`, `dropping` or `failed` */
	TAILQ_ENTRY(offline_session) link;
	uint64_t id;
	bool timed_out; /* in `ending`: it did not reconnect after the start */
	bool logged; /* its end has failed, and the cause is logged */
};

struct session_table {
	struct offline_session *absent;
	/* sessions with SESSION_FENCED; only during the start of the manager */
	struct offline_session *fenced;
	/* expires when absent sessions have not reconnected in time */
	struct rpc_timer ttl;
	struct mgr *mgr;
	TAILQ_HEAD(offline_list, offline_session) dropping;
	/*
	 * sessions whose open files and locks could not be dropped; `retry` moves them to
	 * `dropping`
	 */
	struct offline_list failed;
	struct rpc_timer retry;
	bool unsettled; /* sessions_remove_unheld() also waits for `retry` */
	/* absent sessions that end at the next sessions_end_some() */
	TAILQ_HEAD(, offline_session) ending;
	uint64_t last_ended; /* seq of the last record of an ended session */
};

/* ---- absent_sessions.c: sessions not seen since the start of the manager ---- */

/* Adds the session to a table, if it is not there yet.  -ENOMEM */
int offline_add(struct offline_session **table, uint64_t id);
/* Absent sessions may reconnect for session_ttl_ms from now on. */
void absent_open(struct mgr *mgr);
void absent_close(struct mgr *mgr);

/* ---- session_end.c ---- */

void session_drops_open(struct mgr *mgr);
void session_drops_close(struct mgr *mgr);
/* Drops in later turns what the session had open, and then its row. */
void session_drop_later(struct mgr *mgr, uint64_t id);

#endif

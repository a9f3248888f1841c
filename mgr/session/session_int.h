/* SPDX-License-Identifier: BSD-2-Clause */
/* session_int.h - what the files of the sessions share. */
#ifndef SESSION_INT_H
#define SESSION_INT_H

#include "common/util/hash_table.h"
#include "mgr/session/session.h"

/* A session that has a row, but no connection: absent, or ended. */
struct gone {
	UT_hash_handle hh; /* by id; in `away` and `fenced` */
	TAILQ_ENTRY(gone) link; /* only if ended; in `over`, `reap`, `failed` */
	uint64_t id;
	bool late; /* in `over`: it did not reconnect after the start */
	bool said; /* in `failed`, or was there: the cause is logged */
};

struct session_table {
	struct gone *away;
	struct gone *fenced; /* only during the start */
	struct rpc_timer ttl; /* time limit of absent sessions */
	struct mgr *mgr;
	TAILQ_HEAD(gone_list, gone) reap;
	struct gone_list failed; /* until `retry`, then in `reap` again */
	struct rpc_timer retry;
	bool unsettled; /* sessions_settle() also waits for `retry` */
	/* absent sessions that end at the next sessions_end() */
	TAILQ_HEAD(, gone) over;
	uint64_t tombs; /* seq of the last tombstone */
};

/* ---- session_away.c: sessions not seen since the start of the manager ---- */

/* Absent sessions may reconnect for session_ttl_ms from now on. */
void away_start(struct mgr *mgr);
void away_close(struct mgr *mgr);

/* ---- session_end.c: the row records the end ---- */

/* The session has ended: from now on no iod may execute a request of it. */
int session_fence(struct mgr *mgr, uint64_t id);

/* ---- session_reap.c: drops what it had open, then the row ---- */

void reap_open(struct mgr *mgr);
void reap_later(struct mgr *mgr, uint64_t id);
void reap_close(struct mgr *mgr);

#endif

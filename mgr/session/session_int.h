/* SPDX-License-Identifier: BSD-2-Clause */
/* session_int.h - what the files of the sessions share. */
#ifndef SESSION_INT_H
#define SESSION_INT_H

#include "common/util/hash_table.h"
#include "mgr/session/session.h"

/* One that the store has, but no connection: away, or ended. */
struct gone {
	UT_hash_handle hh; /* by id; away, fenced */
	TAILQ_ENTRY(gone) link; /* ended only: over, reap */
	uint64_t id;
	bool late; /* over: it did not come back after the start */
};

struct session_table {
	struct gone *away;
	struct gone *fenced; /* at the start only */
	struct rpc_timer ttl; /* of those away */
	struct mgr *mgr;
	TAILQ_HEAD(, gone) reap;
	TAILQ_HEAD(, gone) over; /* were away: end at the next sessions_end() */
	uint64_t tombs; /* seq of the last tombstone */
};

/* ---- session_away.c: not seen since the start of the mgr ---- */

/* Whoever is away may be so for session_ttl_ms from now on. */
void away_start(struct mgr *mgr);
void away_close(struct mgr *mgr);

/* ---- session_end.c: the row says that it is over ---- */

/* It is over, and no iod may carry out anything of it. */
int session_fence(struct mgr *mgr, uint64_t id);

/* ---- session_reap.c: what it had open, then the row itself ---- */

void reap_later(struct mgr *mgr, uint64_t id);
void reap_close(struct mgr *mgr);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* session_table.h - what the files of the sessions share. */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include <uthash.h>

#include "session.h"

/* A live one: rpc_session_info.priv. */
struct session {
	struct mgr *mgr;
	uint64_t id;
	struct ns_cred cred;
	bool stored; /* it has a row */
};

/* One that the store has, but no connection: away, or ended. */
struct gone {
	UT_hash_handle hh; /* by id; away only */
	TAILQ_ENTRY(gone) link; /* ended only: to be reaped */
	uint64_t id;
};

struct session_table {
	struct gone *away;
	struct rpc_timer ttl; /* of those away */
	struct mgr *mgr;
	TAILQ_HEAD(, gone) reap;
};

/* The session is over; clean: it said so.  Whatever it had open is dropped. */
void session_over(struct mgr *mgr, uint64_t id, bool clean);

#endif

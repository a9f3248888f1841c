/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ended_sessions.h - sessions that have ended.  Sessions that must not return form a queue, sorted
 * by when they ended, so that the oldest ones can be dropped.
 */
#ifndef ENDED_SESSIONS_H
#define ENDED_SESSIONS_H

#include "mgr/db/store.h"

struct ended_session {
	uint64_t session;
	/* time of the end, ns since the epoch; only for people, as the wall clock may be wrong */
	int64_t ended;
	bool evicted;
};

/*
 * Adds a record.  If there are more than max, drops up to two of the oldest records.  seq is the
 * number of the new record: 1 for the first one, otherwise one more than the last number, which
 * ended_session_walk() returns.
 */
int ended_session_add(struct store *st, uint64_t seq,
		      const struct ended_session *ended_session, uint64_t max);
/*
 * Calls fn for each record, oldest first. Stops at the first non-zero value of fn and returns it.
 * Sets *last to the seq of the last record, or to 0.
 */
int ended_session_walk(struct store *st,
		       int (*fn)(void *arg,
				 const struct ended_session *ended_session),
		       void *arg, uint64_t *last);

/*
 * Sessions that ended without a fence (the iods were not told) and whose capabilities may still be
 * valid.  A ring of the newest ones is stored, so that the manager knows them after a restart.
 */
#define UNFENCED_ENDS_MAX 65536u /* number of entries of the ring */

struct unfenced_end {
	uint64_t session;
	/* end of the session's capabilities, on the clock of the manager of `term` */
	uint64_t until;
	uint64_t term; /* term of the manager that recorded it */
	uint64_t life; /* lifetime of a capability, ns */
};

/* Writes entry n over entry n - UNFENCED_ENDS_MAX.  A transaction must be open. */
int unfenced_end_put(struct store *st, uint64_t n,
		     const struct unfenced_end *unfenced_end);
/* Calls fn for each entry, in no order. Stops at the first non-zero value of fn and returns it. */
int unfenced_end_walk(struct store *st,
		      int (*fn)(void *arg, uint64_t n,
				const struct unfenced_end *unfenced_end),
		      void *arg);

#endif

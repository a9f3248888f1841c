/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h - sessions without a connection: their rows in the store, and their ends.
 *
 *   HELLO --> live -- BYE, or silence without open files --> rows deleted
 *              | silence
 *              v
 *            FENCED: told to the iods --> open records dropped --> deleted
 *
 * A session that timed out is rejected from then on, also after restarts.  Its
 * tombstone stays for seven days, or until there are 65536 newer ones.
 *
 * A session that has a row and has not reconnected since the manager started is absent
 * ("away" in names).  It may stay absent as long as any other session that lost its
 * connection.
 *
 * A session that sends DECLARE tells each new run of the manager which files it holds.
 * Until all such sessions of earlier runs have declared, or have ended, no file is
 * permanently removed (ns/holds.h).
 */
#ifndef SESSION_H
#define SESSION_H

#include "mgr/state/mgr_state.h"

int sessions_open(struct mgr *mgr);
/* The server was just opened: makes it reject the sessions that were ended. */
int sessions_refuse(struct mgr *mgr);
void sessions_close(struct mgr *mgr);

/* The session has reconnected, or was not absent. */
void away_remove(struct mgr *mgr, uint64_t id);
/* The session has ended; clean: by BYE.  Its open records and locks are dropped soon. */
void session_over(struct mgr *mgr, uint64_t id, bool clean);
/* Ends the session as if it had timed out, in sessions_end() or later. */
void session_end_soon(struct mgr *mgr, uint64_t id);
/* Ends a few sessions; call it in each turn of the manager.  true: there are more. */
bool sessions_end(struct mgr *mgr);
/*
 * Calls fn for each session that has not reconnected since the manager started, until
 * fn returns non-zero; returns that value.
 */
int sessions_away(struct mgr *mgr,
		  int (*fn)(void *arg, const struct session_rec *rec),
		  void *arg);
/* Every iod rejects the session now. */
void session_fenced(struct mgr *mgr, uint64_t id);
/* Drops a part of what ended sessions had open; true: there is more. */
bool sessions_reap(struct mgr *mgr);
/*
 * Once all sessions have declared their holds: removes one of the files that were kept
 * until then.  true: there may be more.
 */
bool sessions_settle(struct mgr *mgr);

#endif

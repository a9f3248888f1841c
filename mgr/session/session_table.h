/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_table.h - sessions without a connection: their rows in the store, and their ends.
 *
 *   HELLO --> live -- BYE, or silence without open files --> rows deleted
 *              | silence
 *              v
 *            FENCED: told to the iods --> open records dropped --> deleted
 *
 * A session that timed out is rejected from then on, also after restarts.  Its
 * record stays in the store for seven days, or until there are 65536 newer ones.
 *
 * A session that has a row and has not reconnected since the manager started is absent.
 * It may stay absent as long as any other session that lost its
 * connection.
 *
 * A session that sends DECLARE tells each new run of the manager which files it holds.
 * Until all such sessions of earlier runs have declared, or have ended, no file is
 * permanently removed (ns/holds.h).
 */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include "mgr/state/mgr_state.h"

int sessions_open(struct mgr *mgr);
/* The server was just opened: makes it reject the sessions that were ended. */
int sessions_reject_ended(struct mgr *mgr);
void sessions_close(struct mgr *mgr);

/* The session has reconnected, or was not absent. */
void absent_remove(struct mgr *mgr, uint64_t id);
/* The session has ended; clean: by BYE.  Its open records and locks are dropped soon. */
void session_end_begin(struct mgr *mgr, uint64_t id, bool clean);
/* Ends the session as if it had timed out, in sessions_end_some() or later. */
void session_end_soon(struct mgr *mgr, uint64_t id);
/* Ends a few sessions; call it in each turn of the manager.  true: there are more. */
bool sessions_end_some(struct mgr *mgr);
/*
 * Calls fn for each session that has not reconnected since the manager started, until
 * fn returns non-zero; returns that value.
 */
int absent_walk(struct mgr *mgr,
		int (*fn)(void *arg, const struct session_rec *rec), void *arg);
/* Every iod rejects the session now. */
void session_end_fenced(struct mgr *mgr, uint64_t id);
/* Drops a part of what ended sessions had open; true: there is more. */
bool sessions_drop_some(struct mgr *mgr);
/*
 * Once all sessions have declared their holds: removes one of the files that were kept
 * until then.  true: there may be more.
 */
bool sessions_remove_unheld(struct mgr *mgr);

#endif

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
 * record stays in the store until there are 65536 newer ones.
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
/* Call it when the rpc server was just opened: makes it reject the sessions that have ended. */
int sessions_reject_ended(struct mgr *mgr);
void sessions_close(struct mgr *mgr);

/* Call it when the session has reconnected: removes it from the absent sessions, if it is one. */
void absent_remove(struct mgr *mgr, uint64_t id);
/*
 * Ends the session; clean: it sent BYE, and needs no fence.  Its open records and locks are
 * dropped in later turns.
 */
void session_end_begin(struct mgr *mgr, uint64_t id, bool clean);
/* The next sessions_end_some() ends the session as if it had timed out. */
void session_end_soon(struct mgr *mgr, uint64_t id);
/*
 * Ends a session that has files or locks of which the database has no record, as
 * session_end_soon() does.  Returns -ESTALE, or -ENOMEM if the client may ask again.
 */
int session_end_unrecorded(struct mgr *mgr, uint64_t id);
/* Ends a few sessions; call it in each turn of the manager.  true: there are more. */
bool sessions_end_some(struct mgr *mgr);
/*
 * Calls fn for each session that has not reconnected since the manager started, until
 * fn returns non-zero; returns that value.
 */
int absent_walk(struct mgr *mgr,
		int (*fn)(void *arg, const struct session_rec *rec), void *arg);
/* Call it when every iod rejects the session (jobs_open(), fenced()). */
void session_end_fenced(struct mgr *mgr, uint64_t id);
/* Drops some of the open records and locks of ended sessions.  true: there are more. */
bool sessions_drop_some(struct mgr *mgr);
/*
 * Once all sessions have declared their holds: removes one of the files that were kept
 * until then.  true: there may be more.
 */
bool sessions_remove_unheld(struct mgr *mgr);

#endif

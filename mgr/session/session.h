/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h - sessions that are not there: their rows in the store, and their
 * ends.
 *
 *   HELLO --> live -- BYE, or silence without open files --> rows deleted
 *              | silence
 *              v
 *            FENCED: told to the iods --> open records dropped --> deleted
 *
 * A session that fell silent is refused from then on, over restarts too: a
 * tombstone stays, for seven days, or until 65536 newer ones are there.
 *
 * A session that the store has and that has not come back since the mgr
 * started is away, for as long as any other that lost its connection.
 *
 * One that DECLAREs says, whenever it meets another life of the manager, which files it
 * holds.  Until all of those of before have, or their ends are done, no file is removed
 * for good (ns/holds.h).
 */
#ifndef SESSION_H
#define SESSION_H

#include "mgr/state/mgr_state.h"

int sessions_open(struct mgr *mgr);
/* The server, just opened, shall refuse those that were ended. */
int sessions_refuse(struct mgr *mgr);
void sessions_close(struct mgr *mgr);

/* It came back; or it was not away. */
void away_remove(struct mgr *mgr, uint64_t id);
/* It is over; clean: it said so.  Whatever it had open is dropped, soon. */
void session_over(struct mgr *mgr, uint64_t id, bool clean);
/* It ends as if it had stayed away, soon, in sessions_end() or later. */
void session_end_soon(struct mgr *mgr, uint64_t id);
/* A few in each turn of the manager; true: there are more. */
bool sessions_end(struct mgr *mgr);
/* fn of each that has not come back since the mgr started, until one returns not 0: that. */
int sessions_away(struct mgr *mgr,
		  int (*fn)(void *arg, const struct session_rec *rec),
		  void *arg);
/* Every iod refuses it now. */
void session_fenced(struct mgr *mgr, uint64_t id);
/* Does a little of dropping what ended sessions had open; true: there is
 * more. */
bool sessions_reap(struct mgr *mgr);
/* When all sessions have declared what they hold: removes one of the files that stayed
 * until then; true: there may be more. */
bool sessions_settle(struct mgr *mgr);

#endif

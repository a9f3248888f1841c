/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holds.h - holds: opens for reading with WIRE_O_HOLD of sessions that send DECLARE.  The file of a
 * hold exists until RELEASE, even without a name.  A hold is only in memory, so reading a file
 * changes nothing in the database.
 *
 *   OPEN ------> in memory -- the last name is removed --> in memory and a row
 *                |   ^                                     |
 *   RELEASE <----'   '-- DECLARE, after a restart          '--> RELEASE
 *
 * Before a file loses its last name, the manager writes rows for all its holds.  Many holds take
 * several turns, and the last turn also removes the name.  So a restart of the manager loses no
 * hold of a removed file.  After a restart, the sessions declare all their holds again.  Until all
 * sessions that may have holds have declared or ended, the manager permanently removes no file.
 *
 * A hold that was declared keeps the file, but gives the session no right to read it: the session
 * may never have opened the file.
 */
#ifndef HOLDS_H
#define HOLDS_H

#include "mgr/ns/ns_int.h"

#define HOLDS_ID (UINT64_C(1) << 63) /* above any store_new_id() */

/*
 * Whether the id was issued to some session.  An id that is not issued yet may be
 * issued later to another open of the session, and both would share one row.
 */
static inline bool holds_id_was_issued(const struct ns_op *op, uint64_t open)
{
	return open & HOLDS_ID || store_id_was_issued(op->ns->st, open);
}

/*
 * Adds a hold of op->session to a file that has a name; *open: its new id.  -ENOSPC: there
 * are too many holds, in total or of the session; -ENOMEM; -EEXIST: the id is in use;
 * -EBUSY: the file is losing its last name.  After an error, the caller must write a row
 * instead.
 */
int holds_add(struct ns_op *op, uint64_t handle, uint64_t *open);

/* The result of holds_release(): the hold that it ended. */
enum holds_result {
	HOLDS_NONE, /* no hold with this id is in memory */
	HOLDS_ALONE, /* a hold without a row */
	HOLDS_PERHAPS, /* a hold that may have a row */
	/* no hold was ended, because the hold with this id is of another file */
	HOLDS_OTHER,
};
enum holds_result holds_release(struct ns_op *op, uint64_t handle,
				uint64_t open);
/* Forgets a hold whose row was deleted. */
void holds_drop(struct ns *ns, uint64_t session, uint64_t open);
/* *handle: the held file; *flags: OPEN_HOLD, OPEN_DECLARED.  false: there is no such hold. */
bool holds_get(struct ns *ns, uint64_t session, uint64_t open, uint64_t *handle,
	       uint32_t *flags);

/*
 * Call it before the file loses its last name: writes rows for all its holds and counts
 * them in *ino.  0: done; the caller writes *ino.  NS_PART: a part is done and *ino is
 * written; until the request ends, op->pause prevents new holds in memory.  -errno of the
 * store.
 */
int holds_store(struct ns_op *op, struct inode *ino);
/*
 * Call it when the request of `pause` has removed the last name, or gives up: new holds of the file
 * are in memory again.
 */
void holds_stop_leaving(struct ns *ns, struct ns_pause *pause);
/*
 * Call it at the end of a transaction.  committed: the rows that the transaction wrote for holds
 * exist from now on.
 */
void holds_end_transaction(struct ns *ns, bool committed);
/*
 * Whether all sessions have declared or ended.  If not, any file may have holds that are not known
 * yet.
 */
bool holds_are_complete(const struct ns *ns);

void holds_close(struct ns *ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holds.h - holds: the sessions that read and hold files (WIRE_O_HOLD), in memory.  So
 * a file that is only read changes nothing in the database.
 *
 * 	OPEN ----> in memory -- its last name goes --> a row as well
 * 	           |   ^                               |
 * 	RELEASE ---'   '-- DECLARE, after a restart    '--> RELEASE
 *
 * Before a file loses its last name, rows are written for all its holds.  Many holds
 * take several turns, and the last turn also removes the name.  So a restart loses no
 * hold of a removed file, and readers declare their other holds again.  Until all
 * sessions that may have holds have declared, no file is permanently removed.
 *
 * A declared hold keeps the file, but grants no right: the reader may never have opened
 * the file.
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
 * Adds a hold of op->session to a file that has a name.  -ENOSPC: there are too many
 * holds, in total or of the session; -ENOMEM; -EEXIST; -EBUSY: the file is losing that
 * name.  After an error, the caller must write a row.
 */
int holds_add(struct ns_op *op, uint64_t handle, uint64_t *open);

/* The result of holds_release(): the hold that it ended. */
enum holds_result {
	HOLDS_NONE, /* nothing known here */
	HOLDS_ALONE, /* a hold without a row */
	HOLDS_PERHAPS, /* a hold that may have a row */
	HOLDS_OTHER, /* nothing: the hold is of another file */
};
enum holds_result holds_release(struct ns_op *op, uint64_t handle,
				uint64_t open);
/* The row of a session was dropped. */
void holds_drop(struct ns *ns, uint64_t session, uint64_t open);
/* *handle: the held file; *flags: OPEN_HOLD, OPEN_DECLARED.  false: there is no such hold. */
bool holds_get(struct ns *ns, uint64_t session, uint64_t open, uint64_t *handle,
	       uint32_t *flags);

/*
 * Before the file loses its last name: writes rows for all its holds and counts them in
 * *ino, which the caller writes.  NS_PART: a part is done and *ino is written;
 * op->pause prevents new holds in memory.
 */
int holds_store(struct ns_op *op, struct inode *ino);
/* The request has removed the name, or will not remove it. */
void holds_stop_leaving(struct ns *ns, struct ns_pause *pause);
/* At the end of a transaction: the noted rows exist, or do not. */
void holds_end_transaction(struct ns *ns, bool committed);
/* Whether all sessions have declared.  false: there may be unknown holds of any file. */
bool holds_are_complete(const struct ns *ns);

void holds_close(struct ns *ns);

#endif

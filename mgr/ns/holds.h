/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holds.h - who reads and holds which file (WIRE_O_HOLD), kept in memory: a file that
 * is merely read changes nothing in the data base.
 *
 *	OPEN ----> in memory -- its last name goes --> a row as well
 *	           |   ^                               |
 *	RELEASE ---'   '-- DECLARE, after a restart    '--> RELEASE
 *
 * The rows are written before the last name goes, for all who hold the file: of many in
 * several turns, the last of them with the name.  So a restart loses nothing of removed files, and of others what their
 * readers tell anew.  Until all have that could have any, no file is removed for good.
 *
 * What a reader tells keeps the file, and is no right to it: he might never have opened it.
 */
#ifndef HOLDS_H
#define HOLDS_H

#include "mgr/ns/ns_int.h"

#define HOLDS_ID (UINT64_C(1) << 63) /* no store_id() is as high */

/* To whomever.  One that is still to be given may be given to another open of the session, and
 * there is one row for both. */
static inline bool holds_given(const struct ns_op *op, uint64_t open)
{
	return open & HOLDS_ID || store_id_given(op->ns->st, open);
}

/* Of the session, of a file that has a name.  -ENOSPC: there are too many, of all or of it, -ENOMEM,
 * -EEXIST, -EBUSY (it is losing that name): then it is to be a row. */
int holds_add(struct ns_op *op, uint64_t handle, uint64_t *open);

/* What a RELEASE ends: */
enum holds_was {
	HOLDS_NONE, /* nothing that is known here */
	HOLDS_ALONE, /* it had no row */
	HOLDS_PERHAPS, /* it may have one */
	HOLDS_OTHER, /* nothing: it is of another file */
};
enum holds_was holds_release(struct ns_op *op, uint64_t handle, uint64_t open);
/* A row of a session is dropped. */
void holds_drop(struct ns *ns, uint64_t session, uint64_t open);
/* Which file it holds, and OPEN_HOLD, OPEN_TOLD; false: none. */
bool holds_get(struct ns *ns, uint64_t session, uint64_t open, uint64_t *handle,
	       uint32_t *flags);

/*
 * Before the file loses its last name: all who hold it get rows, and it counts them; the caller
 * puts it.  NS_PART: of many a part, and it is put; op->pause keeps it from more holds.
 */
int holds_store(struct ns_op *op, struct inode *ino);
/* The request does not take the name, or has. */
void holds_stay(struct ns *ns, struct ns_pause *pause);
/* At the end of a transaction: the rows are there, or not. */
void holds_settle(struct ns *ns, bool committed);
/* Nobody is known to hold it: false: somebody may. */
bool holds_complete(const struct ns *ns);

void holds_close(struct ns *ns);

#endif

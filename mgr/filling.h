/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filling.h - if the other members have deleted log entries that this member lacks: replaces
 * its database by a copy of another manager's database.
 *
 * 	fill() of the group --> filling_start(): FETCH after FETCH --> STORAGE/filling/db
 * 	the copy is durable --> mgr_group_note_filled() --> GROUP_LOST, the manager starts again
 * 	filling_finish()    --> STORAGE/db is that copy
 *
 * The manager uses its own database until the snapshot in its log is at least as new as the
 * copy.  So a copy that is interrupted changes nothing.  A database that was in no group is
 * renamed to db.old.
 */
#ifndef FILLING_H
#define FILLING_H

#include "mgr/state/mgr_state.h"

/*
 * Call it before the store is opened. If the snapshot in the log requires the complete copy,
 * replaces the database by it. Deletes any other copy. Returns 0, or -errno, which is logged.
 */
int filling_finish(const char *storage, const struct log *log);
/*
 * Copies the database of the manager at uri.  The copy must have all entries up to index.  If it
 * fails, the group is given up after a pause, so that the manager starts again.  It does
 * nothing if a copy is being made.
 */
void filling_start(struct mgr *mgr, const char *uri, uint64_t index);
void filling_close(struct mgr *mgr);

#endif

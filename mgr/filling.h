/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filling.h - the database of a member that lacks entries which the others have deleted: a copy of that
 * of another manager takes its place.
 *
 * 	fill() of the group --> filling_start(): FETCH after FETCH --> STORAGE/filling/db
 * 	the copy is durable --> mgr_group_note_filled() --> GROUP_LOST, the manager starts again
 * 	filling_finish()    --> STORAGE/db is that copy
 *
 * The database that is there stays in use until the log of the member says that the copy counts.  So a copy
 * that is interrupted leaves everything as it was.  A database that was in no group is renamed to db.old.
 */
#ifndef FILLING_H
#define FILLING_H

#include "mgr/state/mgr_state.h"

/*
 * Before the store is opened: puts a complete copy in the place of the database if the log says so, and
 * removes any other one.  -errno, logged.
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

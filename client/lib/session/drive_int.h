/* SPDX-License-Identifier: BSD-2-Clause */
/* drive_int.h - what the files of drive.h share. */
#ifndef DRIVE_INT_H
#define DRIVE_INT_H

#include "client/lib/session/drive.h"

#define DRIVE_SLICE_MS 1000 /* calls end by themselves: only a fuse */

/* With the lock: whose thread this is drives from now on. */
void drive_take(struct drive *drive);
/* Who drives begins what others submitted. */
void drive_look(struct drive *drive);
/*
 * Who drives stops.  watcher: see drive_leave(); onlooker, if not NULL, is not told
 * of it.  True: there was nothing to do.
 */
bool drive_resign(struct drive *drive, int watcher,
		  const struct onlooker *onlooker);

#endif

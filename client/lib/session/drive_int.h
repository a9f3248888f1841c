/* SPDX-License-Identifier: BSD-2-Clause */
/* drive_int.h - shared by the files that implement drive.h. */
#ifndef DRIVE_INT_H
#define DRIVE_INT_H

#include "client/lib/session/drive.h"

/* only a safeguard, because calls end by themselves */
#define DRIVE_SLICE_MS 1000

/* Called with the lock.  This thread drives from now on. */
void drive_take(struct drive *drive);
/* The driver starts the operations that others submitted. */
void drive_look(struct drive *drive);
/*
 * Stops driving.  watcher: see drive_leave().  onlooker, if not NULL, is not notified.
 * True: there was nothing to do.
 */
bool drive_resign(struct drive *drive, int watcher,
		  const struct onlooker *onlooker);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * left.h - the sessions of daemons of this host that were killed.  The manager would
 * keep one, with its locks, until session_timeout; but its process is gone for
 * certain, and what programs had in memory that such a lock protects (the index of
 * a write-ahead log, mapped) went with the mount.  So before a mount serves anew they end.
 */
#ifndef LEFT_H
#define LEFT_H

#include "client/lib/file/fs.h"
#include "client/fuse/life/runfile.h"

struct left {
	struct runfile file; /* a struct fs_note: this daemon's session */
};

/* From now on it is noted whose sessions fs works under.  That it cannot be is
 * logged, and no more. */
void left_note(struct left *l, struct fs *fs);
/* Those of the same file system that killed daemons had have ended, or that is logged;
 * needs a session, and waits for servers as any call. */
void left_end(struct fs *fs);
void left_free(struct left *l, struct fs *fs);

#endif

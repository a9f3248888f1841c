/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stale_sessions.h - ends the sessions of killed daemons of this host.  The manager would keep such
 * a session, with its locks, until session_timeout.  An earlier end is safe: the daemon has
 * certainly ended, and memory that such a lock protects (the mapped index of a write-ahead log) was
 * lost with its mount.  So a daemon ends these sessions before it serves a mount.
 */
#ifndef STALE_SESSIONS_H
#define STALE_SESSIONS_H

#include "client/fuse/daemon/runfile.h"
#include "client/lib/file/fs.h"

struct stale_sessions {
	struct runfile file; /* a struct fs_note: this daemon's session */
};

/* Starts to record the sessions of fs for a later daemon.  A failure is only logged. */
void stale_sessions_record(struct stale_sessions *l, struct fs *fs);
/*
 * Ends the sessions that killed daemons of this host had at the file system fs; logs a failure.
 * Sends requests in the session of fs, and waits for servers.
 */
void stale_sessions_end(struct fs *fs);
/* Stops recording.  Called when the session of fs has ended. */
void stale_sessions_free(struct stale_sessions *l, struct fs *fs);

#endif

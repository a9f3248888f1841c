/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stale_sessions.h - sessions of killed daemons of this host.  The manager would keep such a
 * session, with its locks, until session_timeout.  But the process certainly ended, and
 * the data that such a lock protects in the memory of programs (the mapped index of a
 * write-ahead log) went with the mount.  So these sessions end before a mount serves
 * again.
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
 * Ends the sessions that killed daemons had at the same file system, or logs the
 * failure.  Needs a session, and waits for servers like any call.
 */
void stale_sessions_end(struct fs *fs);
/* Stops to record, when the session of fs has ended. */
void stale_sessions_free(struct stale_sessions *l, struct fs *fs);

#endif

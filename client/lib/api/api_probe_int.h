/* SPDX-License-Identifier: BSD-2-Clause */
/* api_probe_int.h - a session with one server, to ask it about itself. */
#ifndef API_PROBE_INT_H
#define API_PROBE_INT_H

#include "client/lib/file/fs.h"
#include <pvfs.h>

/*
 * Opens a session as the mount fs reaches the server; fs NULL: by its address alone.
 * Starts the deadline of the call.  The caller owns *s and releases it with
 * session_put().  Returns -errno as pvfs_ping_mount().
 */
int api_probe(struct fs *fs, const char *uri, int timeout_ms,
	      struct session **s);
/* The session of a pvfs_watch. */
struct session *api_watch_session(struct pvfs_watch *w);
int api_probe_ping(struct session *s, struct pvfs_ping *out);

#endif

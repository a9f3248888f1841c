/* SPDX-License-Identifier: BSD-2-Clause */
/* api_probe_int.h - a session with one server, whichever, to ask it about itself. */
#ifndef API_PROBE_INT_H
#define API_PROBE_INT_H

#include "client/lib/file/fs.h"
#include <pvfs.h>

/* As the mount fs reaches it; NULL: by its address alone.  A call begins; *s is the
 * caller's to session_put().  -errno as of pvfs_ping_mount(). */
int api_probe(struct fs *fs, const char *uri, int timeout_ms,
	      struct session **s);
/* That of a pvfs_watch. */
struct session *api_watch_session(struct pvfs_watch *w);
int api_probe_ping(struct session *s, struct pvfs_ping *out);
/* How many there are, or -errno. */
int api_probe_labels(struct session *s, struct pvfs_label *list, int max);
int api_probe_stats(struct session *s, struct pvfs_op_stats *list, int max);

#endif

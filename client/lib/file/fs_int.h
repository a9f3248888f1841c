/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_int.h - internals of a mounted file system, for this folder. */
#ifndef FS_INT_H
#define FS_INT_H

#include "client/lib/file/fs.h"
#include "client/lib/session/client_session.h"

/* Creates a session of the mount that has authenticated.  Called without the lock. */
int fs_connect(struct fs *fs, struct session **out);
/* Makes s the present session; NULL: none.  Called with the lock. */
void fs_set_present(struct fs *fs, struct session *s);

/*
 * Maximum number of tries of a call.  After a change of the servers' key, it may need one more try
 * for a new ticket, and one more for a new capability.
 */
#define FS_TRIES 3
/* Returns the result for a call that still fails with rc after FS_TRIES tries. */
int fs_retry_result(int rc);

#endif

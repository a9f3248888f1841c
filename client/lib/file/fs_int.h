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

/* Tries of a call: after the servers' key was changed, one for a ticket, one for a capability. */
#define FS_TRIES 3
/* The result to return for a call that still fails with rc after FS_TRIES tries. */
int fs_retry_result(int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_int.h - of a mounted file system, within this room. */
#ifndef FS_INT_H
#define FS_INT_H

#include "client/lib/file/fs.h"
#include "client/lib/session/session.h"

/* A session of the mount, which proved itself; without the lock. */
int fs_connect(struct fs *fs, struct session **out);
/* With the lock: it is the present one from now on.  NULL: there is none. */
void fs_take(struct fs *fs, struct session *s);

/*
 * So often a call is made: of servers with another key another ticket is wanted, and then
 * another capability.
 */
#define FS_TRIES 3
/* What a call ends with that ended with rc and would have to be made once more. */
int fs_too_often(int rc);

#endif

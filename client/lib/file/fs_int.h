/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_int.h - fs.c: what fs_lost.c wants of it. */
#ifndef FS_INT_H
#define FS_INT_H

#include "fs.h"
#include "session.h"

/* A session of the mount, which proved itself; without the lock. */
int fs_connect(struct fs *fs, struct session **out);
/* With the lock: it is the present one from now on.  NULL: there is none. */
void fs_take(struct fs *fs, struct session *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* realname.h - absolute names without symbolic links, found by asking as libc does. */
#ifndef REALNAME_H
#define REALNAME_H

#include <limits.h>

/* Of a directory that is open, ours or not; -1 and errno: EACCES, ENAMETOOLONG, ENOENT. */
int realname_dir(int dir, char name[PATH_MAX]);
/* Of what path leads to; the same, and ELOOP. */
int realname_path(const char *path, char name[PATH_MAX]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* realname.h - absolute names without symbolic links, found with the same calls as in libc. */
#ifndef REALNAME_H
#define REALNAME_H

#include <limits.h>

/*
 * For an open directory, ours or not.  Returns 0, or -1 with errno: EACCES, ENAMETOOLONG,
 * ENOENT.
 */
int realname_dir(int dir, char name[PATH_MAX]);
/* For the object of a path.  The same errors, and ELOOP. */
int realname_path(const char *path, char name[PATH_MAX]);

#endif

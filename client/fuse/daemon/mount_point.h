/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_point.h - the mount point: checks before a mount, and the end of a lost one. */
#ifndef MOUNT_POINT_H
#define MOUNT_POINT_H

#include <stdbool.h>

#include "common/util/log.h"

#define NOSYMFOLLOW 256ul /* MS_NOSYMFOLLOW, since Linux 5.10 */

/* ---- before the mount; none of these sends a request to a server ---- */

/*
 * Checks that dir is a directory without a PVFS on it, and empty unless nonempty.
 * Returns 0 or -errno, which is logged.
 */
int mount_point_check(const char *dir, bool nonempty, const struct log *log);
/*
 * Sets the mount(2) flags in given from flags; the PVFS mounted there keeps its other
 * flags.  Returns 0 or -errno, which is logged.
 */
int mount_point_remount(const char *dir, unsigned long given,
			unsigned long flags, const struct log *log);
/* The mount failed: logs the cause if libfuse's message does not give it. */
void mount_point_log_refused(const char *dir, const struct log *log);

/* ---- a file system that lost its process ---- */

/*
 * Returns the minor device number of the file system mounted at dir; 0: unknown.  Sends
 * no request.
 */
unsigned int mount_point_minor(const char *dir);
/*
 * Makes all kernel requests to the file system with this minor number fail from now on.
 * The mount stays.  For a file system whose process was killed while one of its threads
 * waited in the kernel for a reply of the same process.
 */
void mount_point_abort(unsigned int minor);

#endif

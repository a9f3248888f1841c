/* SPDX-License-Identifier: BSD-2-Clause */
/* spot.h - the mount point. */
#ifndef SPOT_H
#define SPOT_H

#include <stdbool.h>

#include "common/util/log.h"

#define NOSYMFOLLOW 256ul /* MS_NOSYMFOLLOW, since Linux 5.10 */

/*
 * Returns the minor device number of the file system mounted there; sends no request.
 * 0: unknown.
 */
unsigned int spot_minor(const char *dir);

/*
 * Checks that dir is a directory without a PVFS on it, and empty unless nonempty.  0 or
 * -errno, which is logged.  Sends no request to a server.
 */
int spot_check(const char *dir, bool nonempty, const struct log *log);
/*
 * Sets the mount(2) flags in given from flags; the PVFS mounted there keeps its other
 * flags.  0 or -errno, which is logged.
 */
int spot_remount(const char *dir, unsigned long given, unsigned long flags,
		 const struct log *log);
/* The mount failed: logs the cause if libfuse's message does not give it. */
void spot_refused(const char *dir, const struct log *log);

/*
 * Makes all kernel requests to that file system, with this minor number in st_dev, fail
 * from now on.  The mount stays.  For a file system whose process was killed while one
 * of its threads waited in the kernel for a reply of the same process.
 */
void spot_abort(unsigned int minor);

#endif

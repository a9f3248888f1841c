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
 * Changes the mount(2) flags of the PVFS that is mounted at dir: those in given are set to their
 * value in flags, and the others stay.  Returns 0 or -errno, which is logged.
 */
int mount_point_remount(const char *dir, unsigned long given,
			unsigned long flags, const struct log *log);
/* Called when a mount has failed: logs the cause, unless libfuse has already printed it. */
void mount_point_log_refused(const char *dir, const struct log *log);

/* ---- the flags of the mount, which a remount may change ---- */

/*
 * Begins to watch this process's list of mounts.  Returns a descriptor, which the caller closes, or
 * -1 with errno.
 */
int mount_point_watch(void);
/*
 * Whether any mount was made, changed or removed since the last call that returned true, or since
 * the watch began.  A negative watch sees no changes.
 */
bool mount_point_has_changed(int watch);
/*
 * Whether reads update access times: the file system with this minor device number is mounted
 * neither read-only nor with noatime.  Returns otherwise if no mount of it is found.
 */
bool mount_point_updates_atime(unsigned int minor, bool otherwise);

/* ---- a file system that lost its process ---- */

/*
 * Returns the minor device number of the file system that is mounted at dir, without a request
 * to it; 0: unknown.
 */
unsigned int mount_point_minor(const char *dir);
/*
 * Makes all kernel requests to the FUSE file system with this minor number fail from now on,
 * without unmounting it.  Used if the daemon was killed, and one of its threads waits in the
 * kernel for a reply of the daemon itself.
 */
void mount_point_abort(unsigned int minor);

#endif

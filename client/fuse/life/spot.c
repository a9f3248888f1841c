/* SPDX-License-Identifier: BSD-2-Clause */
/* spot.c - the folder where a file system is to be shown. */
#include "spot.h"

#include <errno.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *fix(int rc)
{
	switch (rc) {
	case -ENOENT:
		return "; make it first (mkdir)";
	case -ENOTCONN:
		return ": a mount there lost its process; unmount it first "
		       "(umount, or fusermount3 -u)";
	default:
		return "";
	}
}

int spot_check(const char *dir, const struct log *log)
{
	struct stat st;
	int rc = stat(dir, &st) ? -errno : 0;

	/* the kernel would take a file, and nobody could use it */
	if (!rc && !S_ISDIR(st.st_mode))
		rc = -ENOTDIR;
	if (rc)
		log_error(log, "mount point %s: %s%s", dir, strerror(-rc),
			  fix(rc));
	return rc;
}

static bool is_shown(const char *dir)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f)))
		found = !strcmp(m->mnt_dir, dir) &&
			!strncmp(m->mnt_type, "fuse", 4);
	if (f)
		endmntent(f);
	return found;
}

void spot_refused(const char *dir, const struct log *log)
{
	char *path = realpath(dir, NULL);

	if (path && is_shown(path))
		log_error(log,
			  "%s: something is mounted there already; it can stay "
			  "as it is, or fusermount3 -u takes it away",
			  path);
	free(path);
}

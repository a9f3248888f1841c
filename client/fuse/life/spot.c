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

/* Of what is shown there now, not below it; "": nothing is mounted there. */
static void shown_type(const char *dir, char type[32])
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	type[0] = '\0';
	while (f && (m = getmntent(f)))
		if (!strcmp(m->mnt_dir, dir))
			snprintf(type, 32, "%s", m->mnt_type);
	if (f)
		endmntent(f);
}

static bool is_shown(const char *dir, const char *kind)
{
	char *path = realpath(dir, NULL), type[32] = "";

	if (path)
		shown_type(path, type);
	free(path);
	return !strncmp(type, kind, strlen(kind));
}

/* The kernel would take another one over it, which stays when that is taken away. */
static int check_bare(const char *dir, const struct log *log)
{
	if (!is_shown(dir, "fuse.pvfs"))
		return 0;
	log_error(
		log,
		"%s: something is mounted there already; it can stay as it is, "
		"or umount (fusermount3 -u) takes it away",
		dir);
	return -EBUSY;
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
	return rc ? rc : check_bare(dir, log);
}

void spot_refused(const char *dir, const struct log *log)
{
	if (is_shown(dir, "fuse"))
		log_error(log,
			  "%s: something is mounted there already; it can stay "
			  "as it is, or fusermount3 -u takes it away",
			  dir);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_point.c - the mount point. */
#include "client/fuse/daemon/mount_point.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTIONS_MAX 256 /* bytes of the options that mount(2) knows as flags */

static const char *error_remedy(int rc)
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

/* Returns the flags of mount(2) that the kernel lists. */
static unsigned long flags_of(const struct mntent *m)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} words[] = {
		{ "ro", MS_RDONLY },
		{ "nosuid", MS_NOSUID },
		{ "nodev", MS_NODEV },
		{ "noexec", MS_NOEXEC },
		{ "sync", MS_SYNCHRONOUS },
		{ "dirsync", MS_DIRSYNC },
		{ "noatime", MS_NOATIME },
		{ "nodiratime", MS_NODIRATIME },
		{ "relatime", MS_RELATIME },
		{ "lazytime", MS_LAZYTIME },
		{ "nosymfollow", NOSYMFOLLOW },
	};
	unsigned long flags = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (hasmntopt(m, words[i].name))
			flags |= words[i].flag;
	return flags;
}

/* Returns the type of the topmost mount at dir; "": nothing is mounted there. */
static void mounted_type(const char *dir, char type[32], unsigned long *flags)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	type[0] = '\0';
	while (f && (m = getmntent(f))) {
		if (strcmp(m->mnt_dir, dir))
			continue;
		snprintf(type, 32, "%s", m->mnt_type);
		*flags = flags_of(m);
	}
	if (f)
		endmntent(f);
}

/*
 * Whether a file system of that kind is mounted on dir; *flags are its flags of mount(2).
 */
static bool is_mounted(const char *dir, const char *kind, unsigned long *flags)
{
	char *path = realpath(dir, NULL), type[32] = "";

	if (path)
		mounted_type(path, type, flags);
	free(path);
	return !strncmp(type, kind, strlen(kind));
}

/*
 * The kernel would accept a second mount on top; after its unmount the first would
 * remain.
 */
static int check_not_mounted(const char *dir, const struct log *log)
{
	unsigned long flags;

	if (!is_mounted(dir, "fuse.pvfs", &flags))
		return 0;
	log_error(log,
		  "%s: something is mounted there already; keep it, or "
		  "unmount it (umount, or fusermount3 -u)",
		  dir);
	return -EBUSY;
}

static int check_empty(const char *dir, const struct log *log)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool empty = true;

	while (d && empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	if (empty)
		return 0;
	log_error(log,
		  "mount point %s: it is not empty: take an empty folder; or "
		  "-o nonempty hides what is there",
		  dir);
	return -ENOTEMPTY;
}

int mount_point_remount(const char *dir, unsigned long given,
			unsigned long flags, const struct log *log)
{
	unsigned long now = 0;
	int rc = is_mounted(dir, "fuse.pvfs", &now) ? 0 : -EINVAL;

	flags = (now & ~given) | (flags & given);
	/* without either, the kernel would keep noatime */
	if (!(flags & MS_NOATIME))
		flags |= MS_RELATIME;
	if (!rc && mount("", dir, "", MS_REMOUNT | flags, NULL))
		rc = -errno;
	if (rc)
		log_error(log, "%s: remount: %s", dir,
			  rc == -EINVAL ? "no PVFS is mounted there"
					: strerror(-rc));
	return rc;
}

int mount_point_check(const char *dir, bool nonempty, const struct log *log)
{
	struct stat st;
	int rc = stat(dir, &st) ? -errno : 0;

	/* the kernel would accept a file, which nobody could use */
	if (!rc && !S_ISDIR(st.st_mode))
		rc = -ENOTDIR;
	if (rc)
		log_error(log, "mount point %s: %s%s", dir, strerror(-rc),
			  error_remedy(rc));
	if (!rc)
		rc = check_not_mounted(dir, log);
	return rc || nonempty ? rc : check_empty(dir, log);
}

void mount_point_log_refused(const char *dir, const struct log *log)
{
	unsigned long flags;

	if (is_mounted(dir, "fuse", &flags))
		log_error(log,
			  "%s: something is mounted there already; keep it, or "
			  "unmount it (fusermount3 -u)",
			  dir);
}

/* ---- the mount in the kernel's list ---- */

unsigned int mount_point_minor(const char *dir)
{
	struct statx stx;

	return statx(AT_FDCWD, dir, AT_STATX_DONT_SYNC, 0, &stx)
		       ? 0
		       : stx.stx_dev_minor;
}

/* Decodes mountinfo, which has spaces and the like as \NNN. */
static void unescape_path(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (*from == '\\' && strlen(from) > 3) {
			*to++ = (char)((from[1] - '0') << 6 |
				       (from[2] - '0') << 3 | (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* Finds where it is mounted, and the options of this mount; false: nowhere. */
static bool find_mount(unsigned int minor, char path[PATH_MAX],
		       char options[OPTIONS_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int major, n;
	bool found = false;
	char *line = NULL;
	size_t room = 0;

	while (f && !found && getline(&line, &room, f) > 0)
		found = sscanf(line, "%*d %*d %u:%u %*s %4095s %255s", &major,
			       &n, path, options) == 4 &&
			!major && n == minor;
	free(line);
	if (f)
		fclose(f);
	unescape_path(path);
	return found;
}

/* ---- flags ---- */

int mount_point_watch(void)
{
	return open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
}

bool mount_point_has_changed(int watch)
{
	struct pollfd p = { .fd = watch, .events = POLLPRI };

	return poll(&p, 1, 0) > 0;
}

bool mount_point_updates_atime(unsigned int minor, bool otherwise)
{
	char path[PATH_MAX], options[OPTIONS_MAX];
	const struct mntent m = { .mnt_opts = options };

	if (!minor || !find_mount(minor, path, options))
		return otherwise;
	return !(flags_of(&m) & (MS_RDONLY | MS_NOATIME));
}

/* ---- a file system that lost its process ---- */

/*
 * For root.  umount2() aborts the connection of the mount.  It does not unmount, because fd
 * keeps the mount in use.
 */
static void force_abort(unsigned int minor)
{
	char path[PATH_MAX] = "", options[OPTIONS_MAX];
	int fd;

	if (!find_mount(minor, path, options))
		return;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	umount2(path, MNT_FORCE);
	close(fd);
}

/* Uses the kernel's control file if it is there and its user may write to it. */
void mount_point_abort(unsigned int minor)
{
	char path[64];
	bool done;
	int fd;

	if (!minor)
		return;
	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort",
		 minor);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, "1", 1) == 1;
	if (fd >= 0)
		close(fd);
	if (!done)
		force_abort(minor);
}

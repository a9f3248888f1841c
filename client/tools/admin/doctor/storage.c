/* SPDX-License-Identifier: BSD-2-Clause */
/* storage.c - the storage folders of this host's servers, and their disks. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/clock.h"
#include "common/util/stamp.h"

#define FSYNC_SLOW_MS 500u

static bool is_ours(const struct subject *s)
{
	return s->storage[0] && subject_is_here(s);
}

/*
 * If the disk is not mounted, an iod stamps the empty folder that it finds in its place, and ends.
 */
static void find_new(const struct doctor *d, const struct subject *s,
		     const char *what)
{
	char fix[PATH_MAX + 128];

	snprintf(fix, sizeof(fix),
		 "findmnt -T %s: mount what is to be there, and start the "
		 "server; a new one serves when all servers have started",
		 s->storage);
	doctor_find(d, fix,
		    "[%s] storage %s is %s: a new server's, or its file "
		    "system is not mounted",
		    s->section, s->storage, what);
}

static void find_foreign(const struct doctor *d, const struct subject *s,
			 const char *why)
{
	if (!strncmp(why, "'version ", 9))
		doctor_find(
			d,
			"install that release on this host: there is no "
			"step back but the backup of all storage folders",
			"[%s] storage %s is of another release: its " STAMP_FILE
			" says %s",
			s->section, s->storage, why);
	else
		doctor_find(
			d,
			"mount the right disk there, or correct [SECTION] "
			"storage or [filesystem] id; the stamp says whose "
			"it is",
			"[%s] storage %s belongs to another server: its " STAMP_FILE
			" says %s",
			s->section, s->storage, why);
}

static void find_stamp(const struct doctor *d, const struct subject *s, int fd)
{
	struct stamp want = { .fsid = d->fsid,
			      .role = s->mgr ? "mgr" : "iod",
			      .index = s->mgr ? 0 : s->index };
	char why[512];
	int rc = d->fsid ? stamp_look(fd, &want, why, sizeof(why)) : -ENODATA;

	if (rc == -EINVAL)
		find_foreign(d, s, why);
	else if (rc == -ENOTEMPTY)
		doctor_find(d,
			    "correct storage, or empty the folder: it is no "
			    "store",
			    "[%s] storage %s holds files and no " STAMP_FILE,
			    s->section, s->storage);
	else if (rc == -ENOENT)
		find_new(d, s, "empty");
	else if (!rc && !s->mgr && !want.owner)
		find_new(d, s, "new, and no manager has taken it in");
	else if (rc && rc != -ENODATA)
		doctor_unseen(d, "%s/" STAMP_FILE ": %s", s->storage,
			      strerror(-rc));
}

static void find_mode(const struct doctor *d, const struct subject *s,
		      const struct stat *sb)
{
	char fix[PATH_MAX + 16];

	snprintf(fix, sizeof(fix), "chmod 700 %s", s->storage);
	if (sb->st_mode & 022)
		doctor_find(d, fix,
			    "[%s] storage %s has mode %04o: others change what "
			    "is stored",
			    s->section, s->storage, sb->st_mode & 07777);
	else if ((sb->st_mode & 0700) != 0700)
		doctor_find(d, fix,
			    "[%s] storage %s has mode %04o: its own server may "
			    "not use it",
			    s->section, s->storage, sb->st_mode & 07777);
}

static void find_missing(const struct doctor *d, const struct subject *s)
{
	if (errno == ENOENT)
		doctor_find(d,
			    "mount its file system; for a new server mkdir -p "
			    "its parent and start it; or correct storage",
			    "[%s] storage %s is not there", s->section,
			    s->storage);
	else if (errno == ENOTDIR)
		doctor_find(d, "name a folder, or remove what is there",
			    "[%s] storage %s is no folder", s->section,
			    s->storage);
	else
		doctor_unseen(d, "%s: %s: run it as root", s->storage,
			      strerror(errno));
}

/*
 * Reports a file system of /etc/fstab that is not mounted, if the storage should be on it.  Returns
 * whether it did.  Then the present content of the folder does not matter.
 */
static bool find_unmounted(const struct doctor *d, const struct subject *s)
{
	char real[PATH_MAX], fix[PATH_MAX + 64];
	const char *path = realpath(s->storage, real) ? real : s->storage;
	int n = (int)unmounted_above(d, path);

	if (!n)
		return false;
	snprintf(fix, sizeof(fix), "mount %.*s, and start the server", n, path);
	doctor_find(d, fix,
		    "%.*s, where [%s] storage %s lies, stands in /etc/fstab "
		    "and is not mounted",
		    n, path, s->section, s->storage);
	return true;
}

void check_storage(const struct doctor *d, const struct subject *s)
{
	struct stat sb;
	int fd;

	if (!is_ours(s) || find_unmounted(d, s))
		return;
	if (stat(s->storage, &sb)) {
		find_missing(d, s);
		return;
	}
	find_mode(d, s, &sb);
	fd = open(s->storage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		find_missing(d, s);
		return;
	}
	find_stamp(d, s, fd);
	close(fd);
}

void check_room(const struct doctor *d, const struct subject *s)
{
	struct statvfs st;

	if (!is_ours(s) || statvfs(s->storage, &st))
		return;
	if (st.f_flag & ST_RDONLY)
		doctor_find(d,
			    "look in dmesg why (errors=remount-ro), fsck, "
			    "mount -o remount,rw",
			    "[%s] storage %s is mounted read-only", s->section,
			    s->storage);
	if (space_is_low((uint64_t)st.f_bavail * st.f_frsize,
			 (uint64_t)st.f_blocks * st.f_frsize, ROOM_LEAST))
		doctor_find(d, ROOM_FIX,
			    "[%s] storage %s has %" PRIu64 " MiB left",
			    s->section, s->storage,
			    (uint64_t)st.f_bavail * st.f_frsize >> 20);
	if (space_is_low(st.f_favail, st.f_files, INODES_LEAST))
		doctor_find(d, INODES_FIX,
			    "[%s] storage %s has %" PRIu64 " inodes left",
			    s->section, s->storage, (uint64_t)st.f_favail);
}

/* The errors that ext4 has counted since its last fsck. */
void check_errors(const struct doctor *d, const struct subject *s)
{
	char link[PATH_MAX], to[PATH_MAX], path[PATH_MAX];
	struct stat sb;
	uint64_t n;
	ssize_t len;

	if (!is_ours(s) || stat(s->storage, &sb))
		return;
	host_path(d, link, "/sys/dev/block/%u:%u", major(sb.st_dev),
		  minor(sb.st_dev));
	len = readlink(link, to, sizeof(to) - 1);
	if (len < 0)
		return; /* no disk of its own: tmpfs, btrfs */
	to[len] = '\0';
	snprintf(path, sizeof(path), "/sys/fs/ext4/%.64s/errors_count",
		 basename(to));
	if (!host_number(d, &n, path) && n)
		doctor_find(d,
			    "stop the server, umount, e2fsck -f; look at the "
			    "disk (smartctl -a) before it serves again",
			    "the file system of [%s] storage %s has counted "
			    "%" PRIu64 " errors",
			    s->section, s->storage, n);
}

/*
 * Returns the ms of the fastest of three flushes, or -errno.  The file has no name, so
 * nothing remains.
 */
static int64_t flush_ms(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int64_t best = INT64_MAX;
	char block[4096] = { 0 };

	if (fd < 0)
		return -errno;
	for (int i = 0; i < 3; i++) {
		uint64_t began = clock_now();
		int64_t ms;

		if (pwrite(fd, block, sizeof(block), 4096 * i) < 0 || fsync(fd))
			best = -errno;
		ms = (int64_t)((clock_now() - began) / CLOCK_NS_PER_MS);
		if (best >= 0 && ms < best)
			best = ms;
	}
	close(fd);
	return best;
}

void check_fsync(const struct doctor *d, const struct subject *s)
{
	int64_t ms;

	if (!is_ours(s) || access(s->storage, W_OK | X_OK))
		return; /* check_storage() and check_room() report it */
	ms = flush_ms(s->storage);
	if (ms == -EIO)
		doctor_find(d,
			    "look at dmesg and smartctl -a; replace the disk",
			    "a flush of storage %s fails: %s", s->storage,
			    strerror(EIO));
	else if (ms > (int64_t)FSYNC_SLOW_MS)
		doctor_find(d,
			    "a disk with a write cache that keeps its data; "
			    "nothing else on it; iostat -x says what it does",
			    "[%s] storage %s takes %" PRId64
			    " ms for a flush, for which each change waits",
			    s->section, s->storage, ms);
	else if (ms >= 0)
		doctor_note(d, "a flush of %s takes %" PRId64 " ms", s->storage,
			    ms);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_folder.c - the folder that a copy of a database is written to. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/stamp.h"
#include "mgr/backup/backup_int.h"

#define PARTIAL "db.partial" /* renamed to "db" when it is complete */
#define NEW_STAMP STAMP_FILE ".new" /* renamed to the stamp */

/* 1: empty, except for the lost+found of a new file system; 0; or -errno. */
static int is_empty(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!dir)
		return -errno;
	while (rc && (de = readdir(dir)))
		rc = !strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") ||
		     !strcmp(de->d_name, "lost+found");
	closedir(dir);
	return rc;
}

/* A copy that its owner cannot read is complete nevertheless. */
static void give_to_owner(struct backup_folder *folder, int fd)
{
	if (folder->uid != (uid_t)-1 && fchown(fd, folder->uid, folder->gid))
		folder->foreign = true;
}

static int make_partial(struct backup_folder *folder)
{
	int empty = is_empty(folder->parent);

	if (empty <= 0)
		return empty ? empty : -ENOTEMPTY;
	if (mkdirat(folder->parent, PARTIAL, 0700))
		return errno == EEXIST ? -ENOTEMPTY : -errno;
	folder->dirfd = openat(folder->parent, PARTIAL,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return folder->dirfd < 0 ? -errno : 0;
}

int backup_folder_open(struct backup_folder *folder, const char *dir)
{
	int rc;

	folder->dir = dir;
	folder->dirfd = folder->fd = -1;
	folder->foreign = false;
	folder->made = !mkdir(dir, 0700);
	if (!folder->made && errno != EEXIST)
		return -errno;
	folder->parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = folder->parent < 0 ? -errno : make_partial(folder);
	if (!rc)
		return 0;
	if (folder->parent >= 0)
		close(folder->parent);
	if (folder->made)
		rmdir(dir);
	return rc;
}

static int end_file(struct backup_folder *folder)
{
	int rc = 0;

	if (folder->fd < 0)
		return 0;
	if (fsync(folder->fd))
		rc = -errno;
	if (close(folder->fd) && !rc)
		rc = -errno;
	folder->fd = -1;
	return rc;
}

int backup_folder_file(void *arg, const char *name)
{
	struct backup_folder *folder = arg;
	int rc = end_file(folder);

	if (rc)
		return rc;
	folder->fd = openat(folder->dirfd, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (folder->fd < 0)
		return -errno;
	give_to_owner(folder, folder->fd);
	return 0;
}

int backup_folder_data(void *arg, uint64_t offset, const void *bytes,
		       size_t len)
{
	const struct backup_folder *folder = arg;
	const uint8_t *at = bytes;
	ssize_t n;

	for (; len; at += n, offset += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(folder->fd, at, len, (off_t)offset);
		if (n <= 0)
			return n ? -errno : -ENOSPC;
	}
	return 0;
}

/* The folder above dir has the name of dir. */
static int flush_parents(const struct backup_folder *folder)
{
	int up = openat(folder->parent, "..",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = up < 0 || fsync(up) || fsync(folder->parent) ? -errno : 0;

	if (up >= 0)
		close(up);
	return rc;
}

int backup_folder_publish(struct backup_folder *folder)
{
	int rc = end_file(folder);

	if (rc)
		return rc;
	give_to_owner(folder, folder->dirfd);
	if (fsync(folder->dirfd) ||
	    renameat(folder->parent, PARTIAL, folder->parent, "db"))
		return -errno;
	return flush_parents(folder);
}

/* The user of the manager may own dir, so a name in it may be a link of his: O_EXCL. */
static int write_stamp(struct backup_folder *folder, const char *text,
		       size_t len)
{
	int rc;

	folder->fd = openat(folder->parent, NEW_STAMP,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (folder->fd < 0)
		return -errno;
	give_to_owner(folder, folder->fd);
	rc = backup_folder_data(folder, 0, text, len);
	if (!rc)
		rc = end_file(folder);
	if (!rc &&
	    renameat(folder->parent, NEW_STAMP, folder->parent, STAMP_FILE))
		rc = -errno;
	return rc;
}

int backup_folder_stamp(struct backup_folder *folder, int storage)
{
	int fd = openat(storage, STAMP_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[512];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	int rc = n < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (!rc)
		rc = write_stamp(folder, text, (size_t)n);
	if (rc)
		return rc;
	if (folder->made)
		give_to_owner(folder, folder->parent);
	return flush_parents(folder);
}

void backup_folder_discard(struct backup_folder *folder)
{
	int fd = dup(folder->dirfd);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	unlinkat(folder->parent, STAMP_FILE, 0);
	unlinkat(folder->parent, NEW_STAMP, 0);
	while (dir && (de = readdir(dir)))
		unlinkat(folder->dirfd, de->d_name, 0);
	if (dir)
		closedir(dir);
	if (unlinkat(folder->parent, PARTIAL, AT_REMOVEDIR))
		unlinkat(folder->parent, "db", AT_REMOVEDIR);
	if (folder->made)
		rmdir(folder->dir);
	backup_folder_close(folder);
}

void backup_folder_close(struct backup_folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	close(folder->dirfd);
	close(folder->parent);
}

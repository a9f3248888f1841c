/* SPDX-License-Identifier: BSD-2-Clause */
/* disk_folder.c - the table for a folder of the host. */
#include "common/util/disk_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder_of(void *arg)
{
	return (int)(intptr_t)arg;
}

static int folder_open(void *arg, const char *name, bool make)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(folder_of(arg), name,
			make ? flags | O_CREAT | O_TRUNC : flags, 0600);

	return fd < 0 ? -errno : fd;
}

static void folder_close(void *arg, int fd)
{
	close(fd);
}

static int64_t folder_size(void *arg, int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -errno : (int64_t)st.st_size;
}

static int folder_read(void *arg, int fd, void *buf, size_t len,
		       uint64_t offset)
{
	uint8_t *to = buf;

	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int folder_write(void *arg, int fd, const void *buf, size_t len,
			uint64_t offset)
{
	const uint8_t *from = buf;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int folder_reserve(void *arg, int fd, uint64_t len)
{
	int rc;

	do
		rc = fallocate(fd, 0, 0, (off_t)len) ? -errno : 0;
	while (rc == -EINTR);
	return rc == -EOPNOTSUPP || rc == -ENOSYS ? 0 : rc;
}

static int folder_sync(void *arg, int fd)
{
	return fdatasync(fd) ? -errno : 0;
}

static int folder_rename(void *arg, const char *from, const char *to)
{
	int fd = folder_of(arg);

	return renameat(fd, from, fd, to) ? -errno : 0;
}

static int folder_remove(void *arg, const char *name)
{
	return unlinkat(folder_of(arg), name, 0) ? -errno : 0;
}

static int folder_sync_folder(void *arg)
{
	return fsync(folder_of(arg)) ? -errno : 0;
}

static int folder_list(void *arg, void (*each)(void *ctx, const char *name),
		       void *ctx)
{
	int fd = openat(folder_of(arg), ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc;

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((errno = 0, entry = readdir(dir)))
		each(ctx, entry->d_name);
	rc = -errno;
	closedir(dir);
	return rc;
}

static const struct disk_folder_ops folder_ops = {
	.open = folder_open,
	.close = folder_close,
	.size = folder_size,
	.read = folder_read,
	.write = folder_write,
	.reserve = folder_reserve,
	.sync = folder_sync,
	.rename = folder_rename,
	.remove = folder_remove,
	.sync_folder = folder_sync_folder,
	.list = folder_list,
};

int disk_folder_open(const char *path, struct disk_folder *disk)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;

		close(fd);
		return rc;
	}
	*disk = (struct disk_folder){ &folder_ops, (void *)(intptr_t)fd };
	return 0;
}

void disk_folder_close(struct disk_folder *disk)
{
	close(folder_of(disk->arg));
}

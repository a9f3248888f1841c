/* SPDX-License-Identifier: BSD-2-Clause */
/* api_dir.c - getdents and directory streams. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/file/dir.h"

#define STREAM_BYTES 32768u

/* Releases the reference to f. */
static ssize_t getdents_counted(struct file *f, void *buf, size_t len)
{
	uint64_t begun = profile_start();
	ssize_t n = -ENOTDIR;

	if (f->type == S_IFDIR) {
		file_lock_pos(f);
		n = dir_fill(f, buf, len);
		pthread_mutex_unlock(&f->pos_lock);
	}
	api_counted(PROFILE_DIR, f->profile, begun, n < 0 ? (int)n : 0);
	file_put(f);
	return n;
}

ssize_t pvfs_getdents(int fd, void *buf, size_t len)
{
	struct file *f = process_file(fd);

	return f ? api_ret(getdents_counted(f, buf, len))
		 : getdents64(fd, buf, len);
}

struct pvfs_dir {
	DIR *ordinary; /* or the fields below */
	int fd;
	long pos; /* position after the last entry returned */
	size_t len, at;
	struct dirent buf[STREAM_BYTES / sizeof(struct dirent)];
};

static PVFS_DIR *stream_of(int fd, bool ordinary)
{
	struct pvfs_dir *dir = malloc(sizeof(*dir));

	if (!dir)
		return NULL;
	dir->ordinary = NULL;
	dir->fd = fd;
	dir->pos = 0;
	dir->len = 0;
	dir->at = 0;
	if (ordinary) {
		dir->ordinary = fdopendir(fd);
		if (!dir->ordinary) {
			free(dir);
			return NULL;
		}
	}
	return dir;
}

PVFS_DIR *pvfs_fdopendir(int fd)
{
	struct file *f = process_file(fd);
	bool is_dir;

	if (!f)
		return stream_of(fd, true);
	is_dir = f->type == S_IFDIR;
	file_put(f);
	if (!is_dir) {
		errno = ENOTDIR;
		return NULL;
	}
	return stream_of(fd, false);
}

PVFS_DIR *pvfs_opendir(const char *path)
{
	int fd = pvfs_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	PVFS_DIR *dir;
	int saved;

	if (fd < 0)
		return NULL;
	dir = pvfs_fdopendir(fd);
	if (!dir) {
		saved = errno;
		pvfs_close(fd);
		errno = saved;
	}
	return dir;
}

struct dirent *pvfs_readdir(PVFS_DIR *dir)
{
	struct dirent *ent;
	ssize_t n;

	if (dir->ordinary)
		return readdir(dir->ordinary);
	if (dir->at == dir->len) {
		n = pvfs_getdents(dir->fd, dir->buf, sizeof(dir->buf));
		if (n <= 0)
			return NULL;
		dir->len = (size_t)n;
		dir->at = 0;
	}
	ent = (struct dirent *)((char *)dir->buf + dir->at);
	dir->at += ent->d_reclen;
	dir->pos = ent->d_off;
	return ent;
}

long pvfs_telldir(PVFS_DIR *dir)
{
	return dir->ordinary ? telldir(dir->ordinary) : dir->pos;
}

void pvfs_seekdir(PVFS_DIR *dir, long pos)
{
	if (dir->ordinary) {
		seekdir(dir->ordinary, pos);
		return;
	}
	if (pvfs_lseek(dir->fd, pos, SEEK_SET) < 0)
		return;
	dir->pos = pos;
	dir->len = 0;
	dir->at = 0;
}

void pvfs_rewinddir(PVFS_DIR *dir)
{
	if (dir->ordinary)
		rewinddir(dir->ordinary);
	else
		pvfs_seekdir(dir, 0);
}

int pvfs_dirfd(PVFS_DIR *dir)
{
	return dir->ordinary ? dirfd(dir->ordinary) : dir->fd;
}

int pvfs_closedir(PVFS_DIR *dir)
{
	int rc = dir->ordinary ? closedir(dir->ordinary) : pvfs_close(dir->fd);

	free(dir);
	return rc;
}

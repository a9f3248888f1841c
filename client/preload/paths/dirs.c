/* SPDX-License-Identifier: BSD-2-Clause */
/* dirs.c - directory streams.  libc's and ours have the same type for the program. */
#undef _FILE_OFFSET_BITS
#include <pthread.h>
#include <pvfs.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

struct stream {
	LIST_ENTRY(stream) link;
	PVFS_DIR *dir;
};

/* The directory streams that libpvfs has open. */
static struct {
	pthread_mutex_t lock; /* protects list */
	LIST_HEAD(, stream) list;
	atomic_int count;
} streams = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Called with the lock. */
static struct stream *find_stream(const DIR *dir)
{
	struct stream *s;

	LIST_FOREACH(s, &streams.list, link) {
		if (s->dir == (const PVFS_DIR *)dir)
			return s;
	}
	return NULL;
}

/* NULL: a stream of libc. */
static PVFS_DIR *own_stream(DIR *dir)
{
	struct stream *s;

	if (!atomic_load_explicit(&streams.count, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&streams.lock);
	s = find_stream(dir);
	pthread_mutex_unlock(&streams.lock);
	return s ? (PVFS_DIR *)dir : NULL;
}

static DIR *add_stream(PVFS_DIR *dir)
{
	struct stream *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->dir = dir;
	pthread_mutex_lock(&streams.lock);
	LIST_INSERT_HEAD(&streams.list, s, link);
	atomic_fetch_add(&streams.count, 1);
	pthread_mutex_unlock(&streams.lock);
	return (DIR *)dir;
}

static void remove_stream(DIR *dir)
{
	struct stream *s;

	pthread_mutex_lock(&streams.lock);
	s = find_stream(dir);
	if (s) {
		LIST_REMOVE(s, link);
		atomic_fetch_sub(&streams.count, 1);
	}
	pthread_mutex_unlock(&streams.lock);
	free(s);
}

EXPORT_TWICE(struct dirent *, readdir, readdir64, (DIR * dir));
EXPORT ssize_t getdents64(int fd, void *buf, size_t len);
EXPORT DIR *opendir(const char *path);
EXPORT DIR *fdopendir(int fd);
EXPORT int closedir(DIR *dir);
EXPORT void rewinddir(DIR *dir);
EXPORT void seekdir(DIR *dir, long pos);
EXPORT long telldir(DIR *dir);
EXPORT int dirfd(DIR *dir);

DIR *fdopendir(int fd)
{
	enum route route = route_fd(fd, __func__);
	PVFS_DIR *dir;
	DIR *added;

	if (route == ROUTE_KERNEL)
		return libc()->fdopendir(fd);
	dir = route == ROUTE_PVFS ? PVFS(pvfs_fdopendir(fd)) : NULL;
	added = dir ? add_stream(dir) : NULL;
	if (dir && !added)
		free(dir); /* fd stays open, as after every error */
	return added;
}

/* A symlink may lead to an ordinary directory. */
DIR *opendir(const char *path)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, path, __func__);
	DIR *dir;
	int fd;

	if (route == ROUTE_KERNEL)
		return libc()->opendir(path);
	if (route == ROUTE_REFUSED)
		return NULL;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

struct dirent *readdir(DIR *dir)
{
	PVFS_DIR *d = own_stream(dir);

	return d ? PVFS(pvfs_readdir(d)) : libc()->readdir(dir);
}

int closedir(DIR *dir)
{
	PVFS_DIR *d = own_stream(dir);
	int fd, rc;

	if (!d)
		return libc()->closedir(dir);
	remove_stream(dir);
	fd = PVFS(pvfs_dirfd(d));
	rc = PVFS(pvfs_closedir(d));
	route_forget_fd(fd);
	return rc;
}

/* ---- position ---- */

void seekdir(DIR *dir, long pos)
{
	PVFS_DIR *d = own_stream(dir);

	if (!d) {
		libc()->seekdir(dir, pos);
		return;
	}
	PVFS((pvfs_seekdir(d, pos), 0));
}

void rewinddir(DIR *dir)
{
	if (own_stream(dir))
		seekdir(dir, 0);
	else
		libc()->rewinddir(dir);
}

long telldir(DIR *dir)
{
	PVFS_DIR *d = own_stream(dir);

	return d ? PVFS(pvfs_telldir(d)) : libc()->telldir(dir);
}

int dirfd(DIR *dir)
{
	PVFS_DIR *d = own_stream(dir);

	return d ? PVFS(pvfs_dirfd(d)) : libc()->dirfd(dir);
}

/* The memory is checked first, because entries that cannot be copied would be lost. */
static ssize_t read_entries(int fd, void *buf, size_t len)
{
	return copy_out(buf, buf, len) ? -1 : pvfs_getdents(fd, buf, len);
}

ssize_t getdents64(int fd, void *buf, size_t len)
{
	return BY_FD(fd, read_entries(fd, buf, len),
		     libc()->getdents(fd, buf, len));
}

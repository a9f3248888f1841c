/* SPDX-License-Identifier: BSD-2-Clause */
/* dirs.c - directory streams.  libc's and ours have the same type for the program. */
#undef _FILE_OFFSET_BITS
#include <pthread.h>
#include <pvfs.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

struct ours {
	LIST_ENTRY(ours) list;
	PVFS_DIR *dir;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects list */
static LIST_HEAD(, ours) list = LIST_HEAD_INITIALIZER(list);
static atomic_int count;

/* Called with the lock. */
static struct ours *find(const DIR *dir)
{
	struct ours *o;

	LIST_FOREACH(o, &list, list) {
		if (o->dir == (const PVFS_DIR *)dir)
			return o;
	}
	return NULL;
}

/* NULL: a stream of libc. */
static PVFS_DIR *ours(DIR *dir)
{
	struct ours *o;

	if (!atomic_load_explicit(&count, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&lock);
	o = find(dir);
	pthread_mutex_unlock(&lock);
	return o ? (PVFS_DIR *)dir : NULL;
}

static DIR *add(PVFS_DIR *dir)
{
	struct ours *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	o->dir = dir;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&list, o, list);
	atomic_fetch_add(&count, 1);
	pthread_mutex_unlock(&lock);
	return (DIR *)dir;
}

static void take_out(DIR *dir)
{
	struct ours *o;

	pthread_mutex_lock(&lock);
	o = find(dir);
	if (o) {
		LIST_REMOVE(o, list);
		atomic_fetch_sub(&count, 1);
	}
	pthread_mutex_unlock(&lock);
	free(o);
}

TWO_NAMES(struct dirent *, readdir, readdir64, (DIR * dir));
SEEN ssize_t getdents64(int fd, void *buf, size_t len);
SEEN DIR *opendir(const char *path);
SEEN DIR *fdopendir(int fd);
SEEN int closedir(DIR *dir);
SEEN void rewinddir(DIR *dir);
SEEN void seekdir(DIR *dir, long pos);
SEEN long telldir(DIR *dir);
SEEN int dirfd(DIR *dir);

DIR *fdopendir(int fd)
{
	enum whose whose = whose_fd(fd, __func__);
	PVFS_DIR *dir;
	DIR *added;

	if (whose == KERNELS)
		return under()->fdopendir(fd);
	dir = whose == OURS ? PVFS(pvfs_fdopendir(fd)) : NULL;
	added = dir ? add(dir) : NULL;
	if (dir && !added)
		free(dir); /* fd stays open, as after every error */
	return added;
}

/* A symlink may lead to an ordinary directory. */
DIR *opendir(const char *path)
{
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, __func__);
	DIR *dir;
	int fd;

	if (whose == KERNELS)
		return under()->opendir(path);
	if (whose == REFUSED)
		return NULL;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

struct dirent *readdir(DIR *dir)
{
	PVFS_DIR *d = ours(dir);

	return d ? PVFS(pvfs_readdir(d)) : under()->readdir(dir);
}

int closedir(DIR *dir)
{
	PVFS_DIR *d = ours(dir);
	int fd, rc;

	if (!d)
		return under()->closedir(dir);
	take_out(dir);
	fd = PVFS(pvfs_dirfd(d));
	rc = PVFS(pvfs_closedir(d));
	whose_closed(fd);
	return rc;
}

/* ---- position ---- */

void seekdir(DIR *dir, long pos)
{
	PVFS_DIR *d = ours(dir);

	if (!d) {
		under()->seekdir(dir, pos);
		return;
	}
	PVFS((pvfs_seekdir(d, pos), 0));
}

void rewinddir(DIR *dir)
{
	if (ours(dir))
		seekdir(dir, 0);
	else
		under()->rewinddir(dir);
}

long telldir(DIR *dir)
{
	PVFS_DIR *d = ours(dir);

	return d ? PVFS(pvfs_telldir(d)) : under()->telldir(dir);
}

int dirfd(DIR *dir)
{
	PVFS_DIR *d = ours(dir);

	return d ? PVFS(pvfs_dirfd(d)) : under()->dirfd(dir);
}

/* The memory is checked first, because entries that cannot be copied would be lost. */
static ssize_t entries(int fd, void *buf, size_t len)
{
	return copy_out(buf, buf, len) ? -1 : pvfs_getdents(fd, buf, len);
}

ssize_t getdents64(int fd, void *buf, size_t len)
{
	return BY_FD(fd, entries(fd, buf, len),
		     under()->getdents(fd, buf, len));
}

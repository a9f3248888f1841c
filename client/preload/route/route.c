/* SPDX-License-Identifier: BSD-2-Clause */
/* route.c - see route.h. */
#include "client/preload/route/route.h"

#include <dlfcn.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/route/file_offset.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"

#define STUB "/memfd:pvfs (deleted)"

atomic_uchar route_fd_kinds[ROUTE_FDS];
/* Of the kernel's files under these numbers. */
static _Atomic(ino_t) inodes[ROUTE_FDS];

static struct {
	pthread_mutex_t lock; /* protects name */
	atomic_bool ours;
	char name[PATH_MAX];
} cwd = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- descriptors ---- */

static void set_kind(int fd, enum fd_kind kind)
{
	atomic_store_explicit(&route_fd_kinds[fd], (unsigned char)kind,
			      memory_order_relaxed);
}

/*
 * libc closed the number unseen, and it refers to another file.  Makes libpvfs release
 * its own.
 */
static void release_pvfs_fd(int fd)
{
	int flags = libc()->fcntl(fd, F_GETFD), copy = libc()->dup(fd);

	if (copy >= 0) {
		PVFS(pvfs_dup2(copy, fd));
		next.close(copy);
		if (flags > 0)
			libc()->fcntl(fd, F_SETFD, flags);
	}
}

static bool is_stub(int fd)
{
	char link[32], name[sizeof(STUB)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = libc()->readlinkat(AT_FDCWD, link, name, sizeof(name));
	return n == sizeof(STUB) - 1 && !memcmp(name, STUB, sizeof(STUB) - 1);
}

/*
 * Whether the program, or MPI-IO, has its own libpvfs.  A stub that does not belong to this library
 * belongs to that one, which also takes over the open files.
 */
static bool program_has_libpvfs(void)
{
	return dlsym(RTLD_DEFAULT, "pvfs_open");
}

/* Classifies a number met for the first time, perhaps from the previous program. */
static enum fd_kind classify_fd(int fd)
{
	if (PVFS(pvfs_is_pvfs_fd(fd)))
		return FD_PVFS;
	return is_stub(fd) && !program_has_libpvfs() ? FD_LOST : FD_KERNEL;
}

static enum route route_of_kind(int fd, enum fd_kind kind, const char *call)
{
	if (kind == FD_PVFS)
		return ROUTE_PVFS;
	if (kind == FD_KERNEL)
		return ROUTE_KERNEL;
	refuse_lost(call, fd);
	return ROUTE_REFUSED;
}

/*
 * Whether st may be one of the files under this library's descriptor numbers: empty, without a name
 * and unreadable.
 */
static bool may_be_stub(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_nlink && !st->st_size &&
	       !(st->st_mode & 0577);
}

static enum route update_kind(int fd, enum fd_kind kind, const char *call)
{
	struct stat st;

	/* the file under the number accepts no data */
	if (libc()->fstat(fd, &st) || !roots_in_own_process())
		return ROUTE_KERNEL;
	if (kind == FD_PVFS && st.st_ino != inodes[fd])
		release_pvfs_fd(fd);
	if (kind == FD_UNKNOWN || st.st_ino != inodes[fd]) {
		kind = may_be_stub(&st) ? classify_fd(fd) : FD_KERNEL;
		inodes[fd] = st.st_ino;
		set_kind(fd, kind);
	}
	return route_of_kind(fd, kind, call);
}

enum route route_unknown_fd(int fd, const char *call)
{
	enum fd_kind kind = atomic_load(&route_fd_kinds[fd]);
	enum route route;
	int saved = errno;

	if (pvfs_call_depth || !roots_begun())
		return ROUTE_KERNEL;
	route = update_kind(fd, kind, call);
	if (route != ROUTE_REFUSED)
		errno = saved;
	return route;
}

/* After an error, libpvfs must release the number. */
static int discard_pvfs_fd(int fd)
{
	int saved = errno;

	PVFS(pvfs_close(fd));
	errno = saved;
	return -1;
}

int route_add_duplicate(int fd)
{
	if (fd < 0)
		return fd;
	if ((unsigned int)fd >= ROUTE_FDS) {
		errno = EMFILE;
		return discard_pvfs_fd(fd);
	}
	route_forget_fd(fd);
	route_fd(fd, "open");
	return fd;
}

int route_add_opened(int fd)
{
	if (fd >= 0 && PVFS(file_offset_create(fd)))
		return discard_pvfs_fd(fd);
	return route_add_duplicate(fd);
}

void route_forget_fd(int fd)
{
	if ((unsigned int)fd < ROUTE_FDS)
		set_kind(fd, FD_UNKNOWN);
}

/* ---- names of numbers: /dev/stdin, /dev/fd/N, /proc/self/fd/N ---- */

/* -1: the path names no descriptor. */
static int parse_fd_name(const char *path)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout",
					     "/dev/stderr" };
	int fd, end = 0;

	for (fd = 0; fd < 3; fd++) {
		if (!strcmp(path, names[fd]))
			return fd;
	}
	if ((sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 && !path[end]) ||
	    (sscanf(path, "/proc/self/fd/%d%n", &fd, &end) == 1 && !path[end]))
		return fd;
	return -1;
}

int route_fd_alias(const char *path)
{
	int fd = -1;

	if (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		fd = parse_fd_name(path);
	return fd >= 0 && route_fd(fd, "open") == ROUTE_PVFS ? fd : -1;
}

/* ---- the current directory ---- */

bool route_get_cwd(char name[PATH_MAX])
{
	bool ours;

	if (!atomic_load(&cwd.ours))
		return false;
	pthread_mutex_lock(&cwd.lock);
	ours = atomic_load(&cwd.ours);
	strcpy(name, cwd.name);
	pthread_mutex_unlock(&cwd.lock);
	return ours;
}

void route_set_cwd(const char *name)
{
	pthread_mutex_lock(&cwd.lock);
	atomic_store(&cwd.ours, name != NULL);
	snprintf(cwd.name, sizeof(cwd.name), "%s", name ? name : "");
	pthread_mutex_unlock(&cwd.lock);
}

/* ---- paths ---- */

/*
 * Sets s->path to dir/path.  If that is too long, leaves it to the kernel, which reports
 * the error.
 */
static bool join_path(struct pvfs_path *s, const char *dir, const char *path)
{
	int n = snprintf(s->buf, sizeof(s->buf), "%s/%s", dir, path);

	if (n < 0 || (size_t)n >= sizeof(s->buf))
		return false;
	s->path = s->buf;
	return true;
}

/* A name in a directory of the kernel, which may contain a root. */
static bool join_fd_path(struct pvfs_path *s, int dir, const char *path)
{
	char link[32], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = libc()->readlinkat(AT_FDCWD, link, name, sizeof(name) - 1);
	if (n <= 0 || *name != '/')
		return false;
	name[n] = '\0';
	return join_path(s, n == 1 ? "" : name, path);
}

static enum route route_to_pvfs(const char *path, const char *call)
{
	if (!pvfs_call_depth && roots_in_own_process())
		return ROUTE_PVFS;
	refuse_path(call, path, ENOTSUP);
	return ROUTE_REFUSED;
}

static enum route route_relative_path(struct pvfs_path *s, int dir,
				      const char *path, const char *call)
{
	enum route route = route_fd(dir, call);

	if (route != ROUTE_KERNEL)
		return route;
	if (roots_may_include(path) && join_fd_path(s, dir, path) &&
	    roots_include(s->path))
		return route_to_pvfs(s->path, call);
	s->path = path;
	return ROUTE_KERNEL;
}

static enum route route_any_path(struct pvfs_path *s, int dir, const char *path,
				 const char *call)
{
	bool relative = *path != '/', joins;
	char name[PATH_MAX];

	if (relative && dir != AT_FDCWD)
		return route_relative_path(s, dir, path, call);
	joins = relative && !pvfs_call_depth && route_get_cwd(name);
	if (joins && !join_path(s, name, path)) {
		errno = ENAMETOOLONG;
		return ROUTE_REFUSED;
	}
	if (joins)
		return route_to_pvfs(s->path, call);
	if (!roots_may_include(path) && !(relative && roots_include_cwd()))
		return ROUTE_KERNEL;
	return roots_include(path) ? route_to_pvfs(path, call) : ROUTE_KERNEL;
}

/*
 * Finds out whose path this is, the kernel's or PVFS's.  An empty path (AT_EMPTY_PATH) is the
 * object of the descriptor dir.
 */
enum route route_readable_path(struct pvfs_path *s, int dir, const char *path,
			       const char *call)
{
	s->path = path;
	if (roots_known_none())
		return ROUTE_KERNEL;
	if (!*path)
		return dir == AT_FDCWD ? ROUTE_KERNEL : route_fd(dir, call);
	if (!strncmp(path, "/proc/", 6))
		return ROUTE_KERNEL;
	return roots_exist() ? route_any_path(s, dir, path, call)
			     : ROUTE_KERNEL;
}

enum route route_unchecked_path(struct pvfs_path *s, int dir, const char *path,
				const char *call)
{
	return can_read_path(path) ? route_readable_path(s, dir, path, call)
				   : ROUTE_KERNEL;
}

enum route route_path_after_kernel(struct pvfs_path *s, int *from, bool follow,
				   const char *path, const char *call,
				   int error)
{
	int number;

	if (!roots_begun() ||
	    (error && error != ENOENT && !can_read_path(path)))
		return ROUTE_KERNEL;
	number = follow ? route_fd_alias(path) : -1;
	if (number < 0)
		return route_readable_path(s, *from, path, call);
	*from = number;
	s->path = NULL;
	return ROUTE_PVFS;
}

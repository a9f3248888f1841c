/* SPDX-License-Identifier: BSD-2-Clause */
/* route_fd.c - descriptors: see route.h. */
#include <dlfcn.h>
#include <pvfs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/route/file_offset.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

#define STUB "/memfd:pvfs (deleted)"

atomic_uchar route_fd_kinds[ROUTE_FDS];
/* Of the kernel's files under these numbers. */
static _Atomic(ino_t) inodes[ROUTE_FDS];

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
 * True: the program, or MPI-IO, has its own libpvfs.  A stub that is not ours belongs to
 * that one, which also inherits.
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

/* True: empty, without a name, and unreadable, like the files under our numbers. */
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

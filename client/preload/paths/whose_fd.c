/* SPDX-License-Identifier: BSD-2-Clause */
/* whose_fd.c - descriptors: see whose.h. */
#include <dlfcn.h>
#include <pvfs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/paths/offset.h"
#include "client/preload/paths/refuse.h"
#include "client/preload/paths/streams.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define STUB "/memfd:pvfs (deleted)"

atomic_uchar whose_number[WHOSE_NUMBERS];
/* of the kernel's files under these numbers */
static _Atomic(ino_t) inodes[WHOSE_NUMBERS];

static void set(int fd, enum number number)
{
	atomic_store_explicit(&whose_number[fd], (unsigned char)number,
			      memory_order_relaxed);
}

/*
 * libc closed the number unseen, and it refers to another file.  Makes libpvfs release
 * its own.
 */
static void forget(int fd)
{
	int flags = under()->fcntl(fd, F_GETFD), copy = under()->dup(fd);

	if (copy >= 0) {
		PVFS(pvfs_dup2(copy, fd));
		next.close(copy);
		if (flags > 0)
			under()->fcntl(fd, F_SETFD, flags);
	}
}

static bool is_stub(int fd)
{
	char link[32], name[sizeof(STUB)];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = under()->readlinkat(AT_FDCWD, link, name, sizeof(name));
	return n == sizeof(STUB) - 1 && !memcmp(name, STUB, sizeof(STUB) - 1);
}

/*
 * True: the program, or MPI-IO, has its own libpvfs.  A stub that is not ours belongs to
 * that one, which also inherits.
 */
static bool has_another(void)
{
	return dlsym(RTLD_DEFAULT, "pvfs_open");
}

/* Classifies a number met for the first time, perhaps from the previous program. */
static enum number find_out(int fd)
{
	if (PVFS(pvfs_is_pvfs_fd(fd)))
		return HELD;
	return is_stub(fd) && !has_another() ? LOST : ORDINARY;
}

static enum whose as(int fd, enum number number, const char *call)
{
	if (number == HELD)
		return OURS;
	if (number == ORDINARY)
		return KERNELS;
	refuse_lost(call, fd);
	return REFUSED;
}

/* True: empty, without a name, and unreadable, like the files under our numbers. */
static bool may_be_stub(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_nlink && !st->st_size &&
	       !(st->st_mode & 0577);
}

static enum whose settle(int fd, enum number number, const char *call)
{
	struct stat st;

	/* the file under the number accepts no data */
	if (under()->fstat(fd, &st) || !whose_here())
		return KERNELS;
	if (number == HELD && st.st_ino != inodes[fd])
		forget(fd);
	if (number == UNKNOWN || st.st_ino != inodes[fd]) {
		number = may_be_stub(&st) ? find_out(fd) : ORDINARY;
		inodes[fd] = st.st_ino;
		set(fd, number);
	}
	return as(fd, number, call);
}

enum whose whose_fd_look(int fd, const char *call)
{
	enum number number = atomic_load(&whose_number[fd]);
	enum whose whose;
	int saved = errno;

	if (whose_inside || !whose_begun())
		return KERNELS;
	whose = settle(fd, number, call);
	if (whose != REFUSED)
		errno = saved;
	return whose;
}

/* After an error, libpvfs must release the number. */
static int give_up(int fd)
{
	int saved = errno;

	PVFS(pvfs_close(fd));
	errno = saved;
	return -1;
}

int whose_new(int fd)
{
	if (fd < 0)
		return fd;
	if ((unsigned int)fd >= WHOSE_NUMBERS) {
		errno = EMFILE;
		return give_up(fd);
	}
	whose_closed(fd);
	whose_fd(fd, "open");
	streams_look(fd);
	return fd;
}

int whose_opened(int fd)
{
	if (fd >= 0 && PVFS(offset_begin(fd)))
		return give_up(fd);
	return whose_new(fd);
}

void whose_closed(int fd)
{
	if ((unsigned int)fd < WHOSE_NUMBERS)
		set(fd, UNKNOWN);
}

/* ---- names of numbers: /dev/stdin, /dev/fd/N, /proc/self/fd/N ---- */

/* -1: the path names no descriptor. */
static int number_in(const char *path)
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

int whose_alias(const char *path)
{
	int fd = -1;

	if (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		fd = number_in(path);
	return fd >= 0 && whose_fd(fd, "open") == OURS ? fd : -1;
}

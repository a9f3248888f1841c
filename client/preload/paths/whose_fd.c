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
static _Atomic(ino_t) inodes[WHOSE_NUMBERS]; /* of what is under those */

static void set(int fd, enum number number)
{
	atomic_store_explicit(&whose_number[fd], (unsigned char)number,
			      memory_order_relaxed);
}

/* libc closed it unseen, and the number is another file's: libpvfs lets go of its own. */
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

/* The program, or MPI-IO, has a libpvfs of its own: what is not ours is a file of that, which
 * also inherits. */
static bool has_another(void)
{
	return dlsym(RTLD_DEFAULT, "pvfs_open");
}

/* One that is met for the first time, perhaps of the program before. */
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

/* Empty, without a name, and nobody may read it: so is what we put under numbers. */
static bool may_be_stub(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_nlink && !st->st_size &&
	       !(st->st_mode & 0577);
}

static enum whose settle(int fd, enum number number, const char *call)
{
	struct stat st;

	if (under()->fstat(fd, &st) || !whose_here()) /* it takes no data */
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

/* After an error libpvfs has it no more. */
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

/* ---- /dev/stdin, /dev/fd/N, /proc/self/fd/N ---- */

/* -1: it is no such name. */
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

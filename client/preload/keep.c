/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keep.c - see keep.h.  The linker redirects the library's calls that create descriptors
 * to here (--wrap, meson.build), so that the library need not change.
 */
#include "client/preload/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "client/preload/next.h"

#define EVENT 2u /* value in keep[] for an eventfd; 1: any other descriptor */

atomic_uchar keep[KEEP_MAX];
/* Results of fstat() on an eventfd: all share one inode, which no file has. */
static _Atomic dev_t event_dev;
static _Atomic ino_t event_ino;

int __real_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __real_epoll_create1(int flags);
int __real_eventfd(unsigned int n, int flags);
int __real_eventfd_read(int fd, eventfd_t *value);
int __real_eventfd_write(int fd, eventfd_t value);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_open64(const char *path, int flags, mode_t mode);
int __real_socket(int family, int type, int protocol);
int __real_timerfd_create(int clock, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __real_write(int fd, const void *buf, size_t n);

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __wrap_close(int fd);
int __wrap_epoll_create1(int flags);
int __wrap_eventfd(unsigned int n, int flags);
int __wrap_eventfd_read(int fd, eventfd_t *value);
int __wrap_eventfd_write(int fd, eventfd_t value);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_socket(int family, int type, int protocol);
int __wrap_timerfd_create(int clock, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_write(int fd, const void *buf, size_t n);

/* A range that programs rarely use, but low enough that fork() copies a small table. */
static int above(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur > KEEP_MAX)
		return (int)(KEEP_MAX - KEEP_MAX / 4);
	return (int)(most.rlim_cur - most.rlim_cur / 4);
}

static bool is_event(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == atomic_load(&event_ino) &&
	       st.st_dev == atomic_load(&event_dev);
}

static int kept(int fd)
{
	int saved = errno, high;

	if (fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, above());
	if (high >= 0) {
		next.close(fd);
		fd = high;
	}
	if ((unsigned int)fd < KEEP_MAX)
		atomic_store(&keep[fd], is_event(fd) ? EVENT : 1);
	errno = saved;
	return fd;
}

int __wrap_close(int fd)
{
	if ((unsigned int)fd < KEEP_MAX)
		atomic_store(&keep[fd], 0);
	return next.close(fd);
}

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	return kept(__real_accept4(fd, a, len, flags));
}

int __wrap_epoll_create1(int flags)
{
	return kept(__real_epoll_create1(flags));
}

int __wrap_eventfd(unsigned int n, int flags)
{
	int fd = __real_eventfd(n, flags);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		atomic_store(&event_dev, st.st_dev);
		atomic_store(&event_ino, st.st_ino);
	}
	return kept(fd);
}

/*
 * A program may close descriptors without libc, and then have a file under the number of
 * one of ours.  That file must not get our event writes.
 */
static bool is_its_own(int fd)
{
	if (fd < 0 || (unsigned int)fd >= KEEP_MAX ||
	    atomic_load(&keep[fd]) != EVENT || is_event(fd))
		return false;
	errno = EBADF;
	return true;
}

int __wrap_eventfd_read(int fd, eventfd_t *value)
{
	return is_its_own(fd) ? -1 : __real_eventfd_read(fd, value);
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
	return is_its_own(fd) ? -1 : __real_eventfd_write(fd, value);
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	return is_its_own(fd) ? -1 : __real_write(fd, buf, n);
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return kept(__real_memfd_create(name, flags));
}

int __wrap_open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return kept(__real_open64(path, flags, mode));
}

int __wrap_socket(int family, int type, int protocol)
{
	return kept(__real_socket(family, type, protocol));
}

int __wrap_timerfd_create(int clock, int flags)
{
	return kept(__real_timerfd_create(clock, flags));
}

static void keep_passed(struct cmsghdr *c)
{
	int fd;

	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= c->cmsg_len;
	     at += sizeof(fd)) {
		memcpy(&fd, (char *)c + at, sizeof(fd));
		fd = kept(fd);
		memcpy((char *)c + at, &fd, sizeof(fd));
	}
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n = __real_recvmsg(fd, msg, flags);
	struct cmsghdr *c;

	if (n >= 0)
		for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
			keep_passed(c);
	return n;
}

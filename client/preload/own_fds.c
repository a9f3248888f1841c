/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_fds.c - see own_fds.h.  The linker redirects the calls of this library that create
 * descriptors to here (--wrap, meson.build).  So libpvfs need not change.
 */
#include "client/preload/own_fds.h"

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

struct own_fds own_fds;

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
static int lowest_number(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > OWN_FDS_MAX)
		return (int)(OWN_FDS_MAX - OWN_FDS_MAX / 4);
	return (int)(limit.rlim_cur - limit.rlim_cur / 4);
}

static bool is_event(int fd)
{
	struct stat st;

	return !fstat(fd, &st) &&
	       st.st_ino == atomic_load(&own_fds.event_ino) &&
	       st.st_dev == atomic_load(&own_fds.event_dev);
}

/* Returns the number to which a new descriptor was moved.  An error (-1) passes through. */
static int move_high(int fd)
{
	int saved = errno, high;

	if (fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, lowest_number());
	if (high >= 0) {
		next.close(fd);
		fd = high;
	}
	if ((unsigned int)fd < OWN_FDS_MAX)
		atomic_store(&own_fds.kind[fd],
			     is_event(fd) ? OWN_FD_EVENT : OWN_FD_ANY);
	errno = saved;
	return fd;
}

int __wrap_close(int fd)
{
	if ((unsigned int)fd < OWN_FDS_MAX)
		atomic_store(&own_fds.kind[fd], OWN_FD_NONE);
	return next.close(fd);
}

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	return move_high(__real_accept4(fd, a, len, flags));
}

int __wrap_epoll_create1(int flags)
{
	return move_high(__real_epoll_create1(flags));
}

int __wrap_eventfd(unsigned int n, int flags)
{
	int fd = __real_eventfd(n, flags);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		atomic_store(&own_fds.event_dev, st.st_dev);
		atomic_store(&own_fds.event_ino, st.st_ino);
	}
	return move_high(fd);
}

/*
 * A program may close descriptors without libc, and then have a file under the number of
 * one of ours.  That file must not get our event writes.
 */
static bool was_replaced(int fd)
{
	if (fd < 0 || (unsigned int)fd >= OWN_FDS_MAX ||
	    atomic_load(&own_fds.kind[fd]) != OWN_FD_EVENT || is_event(fd))
		return false;
	errno = EBADF;
	return true;
}

int __wrap_eventfd_read(int fd, eventfd_t *value)
{
	return was_replaced(fd) ? -1 : __real_eventfd_read(fd, value);
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
	return was_replaced(fd) ? -1 : __real_eventfd_write(fd, value);
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	return was_replaced(fd) ? -1 : __real_write(fd, buf, n);
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return move_high(__real_memfd_create(name, flags));
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
	return move_high(__real_open64(path, flags, mode));
}

int __wrap_socket(int family, int type, int protocol)
{
	return move_high(__real_socket(family, type, protocol));
}

int __wrap_timerfd_create(int clock, int flags)
{
	return move_high(__real_timerfd_create(clock, flags));
}

static void move_passed(struct cmsghdr *c)
{
	int fd;

	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= c->cmsg_len;
	     at += sizeof(fd)) {
		memcpy(&fd, (char *)c + at, sizeof(fd));
		fd = move_high(fd);
		memcpy((char *)c + at, &fd, sizeof(fd));
	}
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n = __real_recvmsg(fd, msg, flags);
	struct cmsghdr *c;

	if (n >= 0)
		for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
			move_passed(c);
	return n;
}

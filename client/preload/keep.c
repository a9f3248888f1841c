/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keep.c - see keep.h.  The linker leads the calls of the library that make
 * descriptors here (--wrap, meson.build): it need not know.
 */
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "next.h"

atomic_uchar keep[KEEP_MAX];

int __real_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __real_epoll_create1(int flags);
int __real_eventfd(unsigned int n, int flags);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_open64(const char *path, int flags, mode_t mode);
int __real_socket(int family, int type, int protocol);
int __real_timerfd_create(int clock, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);

int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __wrap_close(int fd);
int __wrap_epoll_create1(int flags);
int __wrap_eventfd(unsigned int n, int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_socket(int family, int type, int protocol);
int __wrap_timerfd_create(int clock, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);

/* Where programs have nothing, as a rule, and fork() need not copy much. */
static int above(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur > KEEP_MAX)
		return (int)(KEEP_MAX - KEEP_MAX / 4);
	return (int)(most.rlim_cur - most.rlim_cur / 4);
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
		atomic_store(&keep[fd], 1);
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
	return kept(__real_eventfd(n, flags));
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

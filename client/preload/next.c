/* SPDX-License-Identifier: BSD-2-Clause */
/* next.c - see next.h. */
#include "client/preload/next.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- until next_find(): system calls ---- */

#define HIGH 0l /* a 64-bit offset fits in one register */

static ssize_t sys_read(int fd, void *buf, size_t n)
{
	return syscall(SYS_read, fd, buf, n);
}

static ssize_t sys_write(int fd, const void *buf, size_t n)
{
	return syscall(SYS_write, fd, buf, n);
}

static ssize_t sys_pread(int fd, void *buf, size_t n, int64_t off)
{
	return syscall(SYS_pread64, fd, buf, n, off);
}

static ssize_t sys_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	return syscall(SYS_pwrite64, fd, buf, n, off);
}

static ssize_t sys_readv(int fd, const struct iovec *iov, int n)
{
	return syscall(SYS_readv, fd, iov, (long)n);
}

static ssize_t sys_writev(int fd, const struct iovec *iov, int n)
{
	return syscall(SYS_writev, fd, iov, (long)n);
}

static ssize_t sys_preadv(int fd, const struct iovec *iov, int n, int64_t off)
{
	return syscall(SYS_preadv, fd, iov, (long)n, off, HIGH);
}

static ssize_t sys_pwritev(int fd, const struct iovec *iov, int n, int64_t off)
{
	return syscall(SYS_pwritev, fd, iov, (long)n, off, HIGH);
}

static ssize_t sys_preadv2(int fd, const struct iovec *iov, int n, int64_t off,
			   int flags)
{
	return syscall(SYS_preadv2, fd, iov, (long)n, off, HIGH, flags);
}

static ssize_t sys_pwritev2(int fd, const struct iovec *iov, int n, int64_t off,
			    int flags)
{
	return syscall(SYS_pwritev2, fd, iov, (long)n, off, HIGH, flags);
}

static int sys_fsync(int fd)
{
	return (int)syscall(SYS_fsync, fd);
}

static int sys_fdatasync(int fd)
{
	return (int)syscall(SYS_fdatasync, fd);
}

static int sys_ftruncate(int fd, int64_t size)
{
	return (int)syscall(SYS_ftruncate, fd, size);
}

static void sys_exit(int status)
{
	syscall(SYS_exit_group, (long)status);
}

static int sys_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static int sys_close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

static int sys_dup2(int fd, int to)
{
	if (fd == to)
		return fcntl(fd, F_GETFD) < 0 ? -1 : to;
	return (int)syscall(SYS_dup3, fd, to, 0);
}

static int sys_dup3(int fd, int to, int flags)
{
	return (int)syscall(SYS_dup3, fd, to, flags);
}

static void *sys_mmap(void *at, size_t len, int prot, int flags, int fd,
		      int64_t off)
{
	return (void *)syscall(SYS_mmap, at, len, (long)prot, (long)flags,
			       (long)fd, off);
}

static ssize_t sys_sendfile(int out, int in, int64_t *off, size_t n)
{
	return syscall(SYS_sendfile, out, in, off, n);
}

static ssize_t sys_copy(int in, int64_t *in_off, int out, int64_t *out_off,
			size_t n, unsigned int flags)
{
	return syscall(SYS_copy_file_range, in, in_off, out, out_off, n,
		       (unsigned long)flags);
}

static ssize_t sys_splice(int in, int64_t *in_off, int out, int64_t *out_off,
			  size_t n, unsigned int flags)
{
	return syscall(SYS_splice, in, in_off, out, out_off, n,
		       (unsigned long)flags);
}

/* libc's function, because the system call needs more from its caller. */
extern int __sigaction(int sig, const struct sigaction *act,
		       struct sigaction *old);

/* clang-format off */
#define SYSTEM_CALLS { \
	.read = sys_read, \
	.write = sys_write, \
	.pread = sys_pread, \
	.pwrite = sys_pwrite, \
	.readv = sys_readv, \
	.writev = sys_writev, \
	.preadv = sys_preadv, \
	.pwritev = sys_pwritev, \
	.preadv2 = sys_preadv2, \
	.pwritev2 = sys_pwritev2, \
	.fsync = sys_fsync, \
	.fdatasync = sys_fdatasync, \
	.ftruncate = sys_ftruncate, \
	.sigaction = __sigaction, \
	.exit = sys_exit, \
	.close = sys_close, \
	.close_range = sys_close_range, \
	.dup2 = sys_dup2, \
	.dup3 = sys_dup3, \
	.mmap = sys_mmap, \
	.sendfile = sys_sendfile, \
	.copy_file_range = sys_copy, \
	.splice = sys_splice, \
}
/* clang-format on */

struct next next = SYSTEM_CALLS, next_library = SYSTEM_CALLS;

/* ---- after it ---- */

static void find_function(void *where, const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f)
		*(void **)where = f;
}

void next_find(void)
{
#define FIND(type, field, symbol, args)                                        \
	find_function(&next_library.field, #symbol);
	NEXT_CALLS(FIND)
#undef FIND
	next = next_library;
}

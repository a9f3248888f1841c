/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c - calls on open files.  A call that calls/ replaces gets here through next.h.
 */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/paths/startup.h"
#include "client/preload/route/file_offset.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

/* ---- called through next.h ---- */

static ssize_t routed_read(int fd, void *buf, size_t n)
{
	const struct iovec iov = { buf, n };

	return BY_FD_OF("read", fd, file_offset_readv(fd, &iov, 1),
			next_library.read(fd, buf, n));
}

static ssize_t routed_write(int fd, const void *buf, size_t n)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };

	return BY_FD_OF("write", fd, file_offset_writev(fd, &iov, 1),
			next_library.write(fd, buf, n));
}

static ssize_t routed_pread(int fd, void *buf, size_t n, int64_t off)
{
	return BY_FD_OF("pread", fd, pvfs_pread(fd, buf, n, off),
			next_library.pread(fd, buf, n, off));
}

static ssize_t routed_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	return BY_FD_OF("pwrite", fd, pvfs_pwrite(fd, buf, n, off),
			next_library.pwrite(fd, buf, n, off));
}

static ssize_t routed_readv(int fd, const struct iovec *iov, int n)
{
	return BY_FD_OF("readv", fd, file_offset_readv(fd, iov, n),
			next_library.readv(fd, iov, n));
}

static ssize_t routed_writev(int fd, const struct iovec *iov, int n)
{
	return BY_FD_OF("writev", fd, file_offset_writev(fd, iov, n),
			next_library.writev(fd, iov, n));
}

static ssize_t preadv_in_pvfs(int fd, const struct iovec *iov, int n,
			      int64_t off)
{
	return file_offset_check_list(iov, n) ? pvfs_preadv(fd, iov, n, off)
					      : -1;
}

static ssize_t routed_preadv(int fd, const struct iovec *iov, int n,
			     int64_t off)
{
	return BY_FD_OF("preadv", fd, preadv_in_pvfs(fd, iov, n, off),
			next_library.preadv(fd, iov, n, off));
}

static ssize_t pwritev_in_pvfs(int fd, const struct iovec *iov, int n,
			       int64_t off)
{
	return file_offset_check_list(iov, n) ? pvfs_pwritev(fd, iov, n, off)
					      : -1;
}

static ssize_t routed_pwritev(int fd, const struct iovec *iov, int n,
			      int64_t off)
{
	return BY_FD_OF("pwritev", fd, pwritev_in_pvfs(fd, iov, n, off),
			next_library.pwritev(fd, iov, n, off));
}

/* Without flags, they are the calls above. */
static ssize_t preadv2_in_pvfs(int fd, const struct iovec *iov, int n,
			       int64_t off, int flags)
{
	if (flags)
		return refuse_fd("preadv2 with flags", fd, EOPNOTSUPP);
	return off == -1 ? file_offset_readv(fd, iov, n)
			 : preadv_in_pvfs(fd, iov, n, off);
}

static ssize_t routed_preadv2(int fd, const struct iovec *iov, int n,
			      int64_t off, int flags)
{
	return BY_FD_OF("preadv2", fd, preadv2_in_pvfs(fd, iov, n, off, flags),
			next_library.preadv2(fd, iov, n, off, flags));
}

static ssize_t pwritev2_in_pvfs(int fd, const struct iovec *iov, int n,
				int64_t off, int flags)
{
	if (flags)
		return refuse_fd("pwritev2 with flags", fd, EOPNOTSUPP);
	return off == -1 ? file_offset_writev(fd, iov, n)
			 : pwritev_in_pvfs(fd, iov, n, off);
}

static ssize_t routed_pwritev2(int fd, const struct iovec *iov, int n,
			       int64_t off, int flags)
{
	return BY_FD_OF("pwritev2", fd,
			pwritev2_in_pvfs(fd, iov, n, off, flags),
			next_library.pwritev2(fd, iov, n, off, flags));
}

static int routed_fsync(int fd)
{
	return BY_FD_OF("fsync", fd, pvfs_fsync(fd), next_library.fsync(fd));
}

static int routed_fdatasync(int fd)
{
	return BY_FD_OF("fdatasync", fd, pvfs_fdatasync(fd),
			next_library.fdatasync(fd));
}

static int routed_ftruncate(int fd, int64_t size)
{
	return BY_FD_OF("ftruncate", fd, pvfs_ftruncate(fd, size),
			next_library.ftruncate(fd, size));
}

static void *routed_mmap(void *at, size_t len, int prot, int flags, int fd,
			 int64_t off)
{
	enum route route = flags & MAP_ANONYMOUS ? ROUTE_KERNEL
						 : route_fd(fd, "mmap");

	if (route == ROUTE_KERNEL)
		return next_library.mmap(at, len, prot, flags, fd, off);
	if (route == ROUTE_PVFS)
		refuse_fd("mmap", fd, ENODEV);
	return MAP_FAILED;
}

/* Programs then use read() and write() instead. */
static ssize_t routed_splice(int in, int64_t *in_off, int out, int64_t *out_off,
			     size_t n, unsigned int flags)
{
	if (route_fd(in, "splice") == ROUTE_KERNEL &&
	    route_fd(out, "splice") == ROUTE_KERNEL)
		return next_library.splice(in, in_off, out, out_off, n, flags);
	errno = EINVAL;
	return -1;
}

/* Programs then use read() and write() instead. */
static ssize_t routed_sendfile(int out, int in, int64_t *off, size_t n)
{
	if (route_fd(in, "sendfile") == ROUTE_KERNEL &&
	    route_fd(out, "sendfile") == ROUTE_KERNEL)
		return next_library.sendfile(out, in, off, n);
	errno = EINVAL;
	return -1;
}

static ssize_t routed_copy_file_range(int in, int64_t *in_off, int out,
				      int64_t *out_off, size_t n,
				      unsigned int flags)
{
	enum route a = route_fd(in, "copy_file_range");
	enum route b = route_fd(out, "copy_file_range");

	if (a == ROUTE_REFUSED || b == ROUTE_REFUSED)
		return -1;
	if (a == ROUTE_KERNEL && b == ROUTE_KERNEL)
		return next_library.copy_file_range(in, in_off, out, out_off, n,
						    flags);
	return PVFS(file_offset_copy(in, in_off, out, out_off, n, flags));
}

void data_begin(void)
{
	next.read = routed_read;
	next.write = routed_write;
	next.pread = routed_pread;
	next.pwrite = routed_pwrite;
	next.readv = routed_readv;
	next.writev = routed_writev;
	next.preadv = routed_preadv;
	next.pwritev = routed_pwritev;
	next.preadv2 = routed_preadv2;
	next.pwritev2 = routed_pwritev2;
	next.fsync = routed_fsync;
	next.fdatasync = routed_fdatasync;
	next.ftruncate = routed_ftruncate;
	next.mmap = routed_mmap;
	next.sendfile = routed_sendfile;
	next.copy_file_range = routed_copy_file_range;
	next.splice = routed_splice;
}

/* ---- calls of libc ---- */

EXPORT_TWICE(off_t, lseek, lseek64, (int fd, off_t off, int whence));
EXPORT_TWICE(int, fallocate, fallocate64,
	     (int fd, int mode, off_t off, off_t n));
EXPORT_TWICE(int, posix_fallocate, posix_fallocate64,
	     (int fd, off_t off, off_t n));
EXPORT_TWICE(int, posix_fadvise, posix_fadvise64,
	     (int fd, off_t off, off_t n, int advice));
EXPORT int syncfs(int fd);
EXPORT int sync_file_range(int fd, off64_t off, off64_t n, unsigned int flags);
EXPORT int ioctl(int fd, unsigned long cmd, ...);

off_t lseek(int fd, off_t off, int whence)
{
	return BY_FD(fd, file_offset_seek(fd, off, whence),
		     libc()->lseek(fd, off, whence));
}

int fallocate(int fd, int mode, off_t off, off_t n)
{
	return BY_FD(fd, pvfs_fallocate(fd, mode, off, n),
		     libc()->fallocate(fd, mode, off, n));
}

/* Returns the error instead of setting errno. */
int posix_fallocate(int fd, off_t off, off_t n)
{
	enum route route = route_fd(fd, __func__);
	int saved = errno, rc;

	if (route == ROUTE_KERNEL)
		return libc()->posix_fallocate(fd, off, n);
	rc = route == ROUTE_PVFS && !PVFS(pvfs_fallocate(fd, 0, off, n))
		     ? 0
		     : errno;
	errno = saved;
	return rc;
}

int posix_fadvise(int fd, off_t off, off_t n, int advice)
{
	return route_fd(fd, __func__) == ROUTE_KERNEL
		       ? libc()->posix_fadvise(fd, off, n, advice)
		       : 0;
}

/* Written data is at the servers, so flush their disks. */
int syncfs(int fd)
{
	return BY_FD(fd, pvfs_fsync(fd), libc()->syncfs(fd));
}

int sync_file_range(int fd, off64_t off, off64_t n, unsigned int flags)
{
	return BY_FD(fd, pvfs_fdatasync(fd),
		     libc()->sync_file_range(fd, off, n, flags));
}

#define FICLONE _IOW(0x94, 9, int)

/* A file of ours cannot share blocks with another one. */
static int ioctl_in_kernel(int fd, unsigned long cmd, void *arg)
{
	if (cmd != FICLONE || route_fd((int)(long)arg, "ioctl") == ROUTE_KERNEL)
		return libc()->ioctl(fd, cmd, arg);
	errno = EXDEV;
	return -1;
}

static int not_a_device(void)
{
	errno = ENOTTY;
	return -1;
}

int ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return BY_FD(fd, not_a_device(), ioctl_in_kernel(fd, cmd, arg));
}

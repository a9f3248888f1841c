/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c - calls on open files.  Calls that the library replaces anyway get here through
 * its next.h.  These functions are between them and the kernel.
 */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/preload/paths/begin.h"
#include "client/preload/next.h"
#include "client/preload/paths/offset.h"
#include "client/preload/paths/refuse.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

static struct next behind; /* the functions that were in next.h before */

/* ---- called through next.h ---- */

static ssize_t our_read(int fd, void *buf, size_t n)
{
	const struct iovec iov = { buf, n };

	return BY_FD_OF("read", fd, offset_readv(fd, &iov, 1),
			behind.read(fd, buf, n));
}

static ssize_t our_write(int fd, const void *buf, size_t n)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };

	return BY_FD_OF("write", fd, offset_writev(fd, &iov, 1),
			behind.write(fd, buf, n));
}

static ssize_t our_pread(int fd, void *buf, size_t n, int64_t off)
{
	return BY_FD_OF("pread", fd, pvfs_pread(fd, buf, n, off),
			behind.pread(fd, buf, n, off));
}

static ssize_t our_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	return BY_FD_OF("pwrite", fd, pvfs_pwrite(fd, buf, n, off),
			behind.pwrite(fd, buf, n, off));
}

static ssize_t our_readv(int fd, const struct iovec *iov, int n)
{
	return BY_FD_OF("readv", fd, offset_readv(fd, iov, n),
			behind.readv(fd, iov, n));
}

static ssize_t our_writev(int fd, const struct iovec *iov, int n)
{
	return BY_FD_OF("writev", fd, offset_writev(fd, iov, n),
			behind.writev(fd, iov, n));
}

static ssize_t preadv_of(int fd, const struct iovec *iov, int n, int64_t off)
{
	return offset_is_list(iov, n) ? pvfs_preadv(fd, iov, n, off) : -1;
}

static ssize_t our_preadv(int fd, const struct iovec *iov, int n, int64_t off)
{
	return BY_FD_OF("preadv", fd, preadv_of(fd, iov, n, off),
			behind.preadv(fd, iov, n, off));
}

static ssize_t pwritev_of(int fd, const struct iovec *iov, int n, int64_t off)
{
	return offset_is_list(iov, n) ? pvfs_pwritev(fd, iov, n, off) : -1;
}

static ssize_t our_pwritev(int fd, const struct iovec *iov, int n, int64_t off)
{
	return BY_FD_OF("pwritev", fd, pwritev_of(fd, iov, n, off),
			behind.pwritev(fd, iov, n, off));
}

/* Without flags, they are the calls above. */
static ssize_t preadv2_of(int fd, const struct iovec *iov, int n, int64_t off,
			  int flags)
{
	if (flags)
		return refuse_fd("preadv2 with flags", fd, EOPNOTSUPP);
	return off == -1 ? offset_readv(fd, iov, n)
			 : preadv_of(fd, iov, n, off);
}

static ssize_t our_preadv2(int fd, const struct iovec *iov, int n, int64_t off,
			   int flags)
{
	return BY_FD_OF("preadv2", fd, preadv2_of(fd, iov, n, off, flags),
			behind.preadv2(fd, iov, n, off, flags));
}

static ssize_t pwritev2_of(int fd, const struct iovec *iov, int n, int64_t off,
			   int flags)
{
	if (flags)
		return refuse_fd("pwritev2 with flags", fd, EOPNOTSUPP);
	return off == -1 ? offset_writev(fd, iov, n)
			 : pwritev_of(fd, iov, n, off);
}

static ssize_t our_pwritev2(int fd, const struct iovec *iov, int n, int64_t off,
			    int flags)
{
	return BY_FD_OF("pwritev2", fd, pwritev2_of(fd, iov, n, off, flags),
			behind.pwritev2(fd, iov, n, off, flags));
}

static int our_fsync(int fd)
{
	return BY_FD_OF("fsync", fd, pvfs_fsync(fd), behind.fsync(fd));
}

static int our_fdatasync(int fd)
{
	return BY_FD_OF("fdatasync", fd, pvfs_fdatasync(fd),
			behind.fdatasync(fd));
}

static int our_ftruncate(int fd, int64_t size)
{
	return BY_FD_OF("ftruncate", fd, pvfs_ftruncate(fd, size),
			behind.ftruncate(fd, size));
}

static void *our_mmap(void *at, size_t len, int prot, int flags, int fd,
		      int64_t off)
{
	enum whose whose = flags & MAP_ANONYMOUS ? KERNELS
						 : whose_fd(fd, "mmap");

	if (whose == KERNELS)
		return behind.mmap(at, len, prot, flags, fd, off);
	if (whose == OURS)
		refuse_fd("mmap", fd, ENODEV);
	return MAP_FAILED;
}

/* Programs then use read() and write() instead. */
static ssize_t our_splice(int in, int64_t *in_off, int out, int64_t *out_off,
			  size_t n, unsigned int flags)
{
	if (whose_fd(in, "splice") == KERNELS &&
	    whose_fd(out, "splice") == KERNELS)
		return behind.splice(in, in_off, out, out_off, n, flags);
	errno = EINVAL;
	return -1;
}

/* Programs then use read() and write() instead. */
static ssize_t our_sendfile(int out, int in, int64_t *off, size_t n)
{
	if (whose_fd(in, "sendfile") == KERNELS &&
	    whose_fd(out, "sendfile") == KERNELS)
		return behind.sendfile(out, in, off, n);
	errno = EINVAL;
	return -1;
}

static ssize_t our_copy(int in, int64_t *in_off, int out, int64_t *out_off,
			size_t n, unsigned int flags)
{
	enum whose a = whose_fd(in, "copy_file_range");
	enum whose b = whose_fd(out, "copy_file_range");

	if (a == REFUSED || b == REFUSED)
		return -1;
	if (a == KERNELS && b == KERNELS)
		return behind.copy_file_range(in, in_off, out, out_off, n,
					      flags);
	return PVFS(offset_copy(in, in_off, out, out_off, n, flags));
}

void data_begin(void)
{
	behind = next;
	next.read = our_read;
	next.write = our_write;
	next.pread = our_pread;
	next.pwrite = our_pwrite;
	next.readv = our_readv;
	next.writev = our_writev;
	next.preadv = our_preadv;
	next.pwritev = our_pwritev;
	next.preadv2 = our_preadv2;
	next.pwritev2 = our_pwritev2;
	next.fsync = our_fsync;
	next.fdatasync = our_fdatasync;
	next.ftruncate = our_ftruncate;
	next.mmap = our_mmap;
	next.sendfile = our_sendfile;
	next.copy_file_range = our_copy;
	next.splice = our_splice;
	numbers_behind(&behind);
	requests_behind(&behind);
}

/* ---- calls of libc ---- */

TWO_NAMES(off_t, lseek, lseek64, (int fd, off_t off, int whence));
TWO_NAMES(int, fallocate, fallocate64, (int fd, int mode, off_t off, off_t n));
TWO_NAMES(int, posix_fallocate, posix_fallocate64,
	  (int fd, off_t off, off_t n));
TWO_NAMES(int, posix_fadvise, posix_fadvise64,
	  (int fd, off_t off, off_t n, int advice));
SEEN int syncfs(int fd);
SEEN int sync_file_range(int fd, off64_t off, off64_t n, unsigned int flags);
SEEN int ioctl(int fd, unsigned long cmd, ...);

off_t lseek(int fd, off_t off, int whence)
{
	return BY_FD(fd, offset_seek(fd, off, whence),
		     under()->lseek(fd, off, whence));
}

int fallocate(int fd, int mode, off_t off, off_t n)
{
	return BY_FD(fd, pvfs_fallocate(fd, mode, off, n),
		     under()->fallocate(fd, mode, off, n));
}

/* Returns the error instead of setting errno. */
int posix_fallocate(int fd, off_t off, off_t n)
{
	enum whose whose = whose_fd(fd, __func__);
	int saved = errno, rc;

	if (whose == KERNELS)
		return under()->posix_fallocate(fd, off, n);
	rc = whose == OURS && !PVFS(pvfs_fallocate(fd, 0, off, n)) ? 0 : errno;
	errno = saved;
	return rc;
}

int posix_fadvise(int fd, off_t off, off_t n, int advice)
{
	return whose_fd(fd, __func__) == KERNELS
		       ? under()->posix_fadvise(fd, off, n, advice)
		       : 0;
}

/* Written data is at the servers, so flush their disks. */
int syncfs(int fd)
{
	return BY_FD(fd, pvfs_fsync(fd), under()->syncfs(fd));
}

int sync_file_range(int fd, off64_t off, off64_t n, unsigned int flags)
{
	return BY_FD(fd, pvfs_fdatasync(fd),
		     under()->sync_file_range(fd, off, n, flags));
}

#define FICLONE _IOW(0x94, 9, int)

/* A file of ours cannot share blocks with another one. */
static int kernel_ioctl(int fd, unsigned long cmd, void *arg)
{
	if (cmd != FICLONE || whose_fd((int)(long)arg, "ioctl") == KERNELS)
		return under()->ioctl(fd, cmd, arg);
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
	return BY_FD(fd, not_a_device(), kernel_ioctl(fd, cmd, arg));
}

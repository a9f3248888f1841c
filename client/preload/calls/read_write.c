/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_write.c - the calls of libc that read and write.  Calls that this library does not
 * handle pass on to the kernel.
 */
#undef _FILE_OFFSET_BITS
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "client/preload/bypass/bypass_io.h"
#include "client/preload/export.h"
#include "client/preload/next.h"

/* Out of line, so that calls that only pass through need no stack for it. */
#define OUT_OF_LINE __attribute__((noinline))

EXPORT ssize_t read(int fd, void *buf, size_t n);
EXPORT ssize_t write(int fd, const void *buf, size_t n);
EXPORT ssize_t readv(int fd, const struct iovec *iov, int niov);
EXPORT ssize_t writev(int fd, const struct iovec *iov, int niov);
EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
EXPORT ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t room);
EXPORT ssize_t __pread64_chk(int fd, void *buf, size_t n, off_t off,
			     size_t room);
EXPORT_TWICE(ssize_t, pread, pread64, (int fd, void *buf, size_t n, off_t off));
EXPORT_TWICE(ssize_t, pwrite, pwrite64,
	     (int fd, const void *buf, size_t n, off_t off));
EXPORT_TWICE(ssize_t, preadv, preadv64,
	     (int fd, const struct iovec *iov, int niov, off_t off));
EXPORT_TWICE(ssize_t, pwritev, pwritev64,
	     (int fd, const struct iovec *iov, int niov, off_t off));
EXPORT_TWICE(ssize_t, preadv2, preadv64v2,
	     (int fd, const struct iovec *iov, int niov, off_t off, int flags));
EXPORT_TWICE(ssize_t, pwritev2, pwritev64v2,
	     (int fd, const struct iovec *iov, int niov, off_t off, int flags));

/* ---- at the file offset ---- */

static OUT_OF_LINE ssize_t bypass_or_read(int fd, void *buf, size_t n)
{
	const struct iovec iov = { buf, n };
	struct bypass_io io;

	if (!bypass_io_begin(&io, fd, false, &iov, 1))
		return next.read(fd, buf, n);
	return bypass_io_run(&io);
}

ssize_t read(int fd, void *buf, size_t n)
{
	return desc_may_be_ours(fd, n) ? bypass_or_read(fd, buf, n)
				       : next.read(fd, buf, n);
}

static OUT_OF_LINE ssize_t bypass_or_write(int fd, const void *buf, size_t n)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };
	struct bypass_io io;

	if (!bypass_io_begin(&io, fd, true, &iov, 1))
		return next.write(fd, buf, n);
	return bypass_io_run(&io);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	return desc_may_be_ours(fd, n) ? bypass_or_write(fd, buf, n)
				       : next.write(fd, buf, n);
}

ssize_t readv(int fd, const struct iovec *iov, int niov)
{
	struct bypass_io io;

	if (!desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, false, iov, niov))
		return next.readv(fd, iov, niov);
	return bypass_io_run(&io);
}

ssize_t writev(int fd, const struct iovec *iov, int niov)
{
	struct bypass_io io;

	if (!desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, true, iov, niov))
		return next.writev(fd, iov, niov);
	return bypass_io_run(&io);
}

/* ---- at a given offset ---- */

static OUT_OF_LINE ssize_t bypass_or_pread(int fd, void *buf, size_t n,
					   off_t off)
{
	const struct iovec iov = { buf, n };
	struct bypass_io io;

	if (!bypass_io_begin(&io, fd, false, &iov, 1))
		return next.pread(fd, buf, n, off);
	return bypass_io_run_at(&io, off);
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	return desc_may_be_ours(fd, n) ? bypass_or_pread(fd, buf, n, off)
				       : next.pread(fd, buf, n, off);
}

static OUT_OF_LINE ssize_t bypass_or_pwrite(int fd, const void *buf, size_t n,
					    off_t off)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };
	struct bypass_io io;

	if (!bypass_io_begin(&io, fd, true, &iov, 1))
		return next.pwrite(fd, buf, n, off);
	return bypass_io_run_at(&io, off);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	return desc_may_be_ours(fd, n) ? bypass_or_pwrite(fd, buf, n, off)
				       : next.pwrite(fd, buf, n, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int niov, off_t off)
{
	struct bypass_io io;

	if (!desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, false, iov, niov))
		return next.preadv(fd, iov, niov, off);
	return bypass_io_run_at(&io, off);
}

ssize_t pwritev(int fd, const struct iovec *iov, int niov, off_t off)
{
	struct bypass_io io;

	if (!desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, true, iov, niov))
		return next.pwritev(fd, iov, niov, off);
	return bypass_io_run_at(&io, off);
}

ssize_t preadv2(int fd, const struct iovec *iov, int niov, off_t off, int flags)
{
	struct bypass_io io;

	if (flags || !desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, false, iov, niov))
		return next.preadv2(fd, iov, niov, off, flags);
	return off == -1 ? bypass_io_run(&io) : bypass_io_run_at(&io, off);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int niov, off_t off,
		 int flags)
{
	struct bypass_io io;

	if (flags)
		bypass_refresh_size(fd);
	if (flags || !desc_may_be_ours(fd, 0) ||
	    !bypass_io_begin_list(&io, fd, true, iov, niov))
		return next.pwritev2(fd, iov, niov, off, flags);
	return off == -1 ? bypass_io_run(&io) : bypass_io_run_at(&io, off);
}

/* ---- variants for compilers that check buffers (_FORTIFY_SOURCE) ---- */

extern void __chk_fail(void) __attribute__((noreturn));

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return read(fd, buf, n);
}

ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t room)
{
	if (n > room)
		__chk_fail();
	return pread(fd, buf, n, off);
}

ssize_t __pread64_chk(int fd, void *buf, size_t n, off_t off, size_t room)
{
	return __pread_chk(fd, buf, n, off, room);
}

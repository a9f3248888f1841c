/* SPDX-License-Identifier: BSD-2-Clause */
/* api_rw.c - read, write and lseek. */
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/rw/rw.h"

/* Consumes the reference to f. */
static ssize_t rw_and_put(struct file *f, int fd, const struct rw *rw)
{
	ssize_t n = rw_run(f, fd, rw);

	file_put(f);
	return api_ret(n);
}

ssize_t pvfs_read(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct rw rw = { .iov = &iov, .niov = 1 };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : read(fd, buf, len);
}

ssize_t pvfs_write(int fd, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw rw = { .iov = &iov, .niov = 1, .write = true };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : write(fd, buf, len);
}

ssize_t pvfs_pread(int fd, void *buf, size_t len, int64_t off)
{
	struct iovec iov = { buf, len };
	struct rw rw = { .iov = &iov, .niov = 1, .at = true, .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pread(fd, buf, len, off);
}

ssize_t pvfs_pwrite(int fd, const void *buf, size_t len, int64_t off)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw rw = {
		.iov = &iov, .niov = 1, .write = true, .at = true, .off = off
	};
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pwrite(fd, buf, len, off);
}

ssize_t pvfs_readv(int fd, const struct iovec *iov, int iovcnt)
{
	struct rw rw = { .iov = iov, .niov = iovcnt };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : readv(fd, iov, iovcnt);
}

ssize_t pvfs_writev(int fd, const struct iovec *iov, int iovcnt)
{
	struct rw rw = { .iov = iov, .niov = iovcnt, .write = true };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : writev(fd, iov, iovcnt);
}

ssize_t pvfs_preadv(int fd, const struct iovec *iov, int iovcnt, int64_t off)
{
	struct rw rw = { .iov = iov, .niov = iovcnt, .at = true, .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : preadv(fd, iov, iovcnt, off);
}

ssize_t pvfs_pwritev(int fd, const struct iovec *iov, int iovcnt, int64_t off)
{
	struct rw rw = { .iov = iov,
			 .niov = iovcnt,
			 .write = true,
			 .at = true,
			 .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pwritev(fd, iov, iovcnt, off);
}

int64_t pvfs_lseek(int fd, int64_t off, int whence)
{
	struct file *f = process_file(fd);
	int64_t pos;

	if (!f)
		return lseek(fd, off, whence);
	pos = file_seek(f, fd, off, whence);
	file_put(f);
	return api_ret(pos);
}

int64_t pvfs_lseek64(int fd, int64_t off, int whence)
{
	return pvfs_lseek(fd, off, whence);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* api_rw.c - read, write and lseek; private mappings; fallocate and copy_file_range. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* ---- private mappings: anonymous memory filled with the content of the file ---- */

static int mmap_check(struct file *f, size_t len, int flags, int64_t off)
{
	if (f->type != S_IFREG)
		return -ENODEV;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (!len || off < 0 || off % sysconf(_SC_PAGESIZE))
		return -EINVAL;
	return (flags & MAP_TYPE) == MAP_PRIVATE ? 0 : -ENODEV;
}

/* Like a mapping by the kernel: offsets count bytes of the file, not of the partition. */
static void *mmap_filled(struct file *f, void *addr, size_t len, int prot,
			 int flags, int64_t off)
{
	struct iovec iov = { .iov_len = len };
	struct rw rw = {
		.iov = &iov, .niov = 1, .at = true, .off = off, .whole = true
	};
	void *mem = mmap(addr, len, PROT_READ | PROT_WRITE,
			 flags | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (mem == MAP_FAILED)
		return mem;
	iov.iov_base = mem;
	n = rw_run(f, -1, &rw);
	if (n >= 0 && prot != (PROT_READ | PROT_WRITE) &&
	    mprotect(mem, len, prot))
		n = -errno;
	if (n >= 0)
		return mem;
	munmap(mem, len);
	errno = (int)-n;
	return MAP_FAILED;
}

void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off)
{
	struct file *f = flags & MAP_ANONYMOUS ? NULL : process_file(fd);
	void *mem;
	int rc;

	if (!f || !f->fs) {
		if (f)
			file_put(f);
		return mmap(addr, len, prot, flags, fd, off);
	}
	rc = mmap_check(f, len, flags, off);
	mem = rc ? MAP_FAILED : mmap_filled(f, addr, len, prot, flags, off);
	file_put(f);
	if (rc)
		errno = -rc;
	return mem;
}

int pvfs_munmap(void *addr, size_t len)
{
	return munmap(addr, len);
}

/* ---- fallocate ---- */

int pvfs_fallocate(int fd, int mode, int64_t off, int64_t len)
{
	struct file *f = api_file(fd);
	uint64_t begun;
	int rc;

	if (!f)
		return fallocate(fd, mode, off, len);
	begun = profile_start();
	rc = api_counted(PROFILE_META, f->profile, begun,
			 rw_allocate(f, mode, off, len));
	file_put(f);
	return api_int(rc);
}

/* ---- copy_file_range ---- */

struct side {
	int fd;
	struct file *f; /* NULL: an ordinary file without a partition */
	int64_t *at; /* the caller's, or NULL */
};

static ssize_t copy_files(const struct side *in, const struct side *out,
			  size_t len)
{
	struct rw_copy c = { .in = in->f,
			     .out = out->f,
			     .at_in = in->at,
			     .at_out = out->at,
			     .off_in = in->at ? *in->at : 0,
			     .off_out = out->at ? *out->at : 0,
			     .len = len };
	uint64_t begun = profile_start();
	ssize_t n = rw_copy(&c);

	api_counted(PROFILE_META, out->f->profile, begun, n < 0 ? (int)n : 0);
	if (n > 0 && in->at)
		*in->at += n;
	if (n > 0 && out->at)
		*out->at += n;
	return n;
}

/* The kernel knows no partitions: with one, the call fails with EINVAL. */
static ssize_t copy_ordinary(const struct side *in, const struct side *out,
			     size_t len)
{
	ssize_t n = -EINVAL;

	if (!in->f && !out->f)
		n = copy_file_range(in->fd, in->at, out->fd, out->at, len, 0);
	return n == -1 ? -errno : n;
}

static ssize_t copy_sides(const struct side *in, const struct side *out,
			  size_t len)
{
	bool from = in->f && in->f->fs, to = out->f && out->f->fs;

	if (from && to)
		return copy_files(in, out, len);
	if (!from && !to)
		return copy_ordinary(in, out, len);
	return fcntl(from ? out->fd : in->fd, F_GETFD) < 0 ? -EBADF : -EXDEV;
}

ssize_t pvfs_copy_file_range(int fd_in, int64_t *off_in, int fd_out,
			     int64_t *off_out, size_t len, unsigned int flags)
{
	struct side in = { fd_in, process_file(fd_in), off_in };
	struct side out = { fd_out, process_file(fd_out), off_out };
	ssize_t n = flags ? -EINVAL : copy_sides(&in, &out, len);

	if (in.f)
		file_put(in.f);
	if (out.f)
		file_put(out.f);
	return api_ret(n);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* file_offset.c - see file_offset.h.  All functions are called inside a call of ours (PVFS()). */
#undef _FILE_OFFSET_BITS
#include "client/preload/route/file_offset.h"

#include <pvfs.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

/* ---- the file that has the offset ---- */

static int reopen_stub(int mem)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", mem);
	if (libc()->fchmod(mem, 0200) || libc()->fcntl(mem, F_ADD_SEALS, SEALS))
		return -1;
	return libc()->openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
}

static int create_stub(void)
{
	int mem = memfd_create("pvfs", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd;

	if (mem < 0)
		return -1;
	fd = reopen_stub(mem);
	close(mem);
	return fd;
}

/* Tells libpvfs about the new descriptor by setting its flags. */
static int place_stub(int fd, int from)
{
	int flags = libc()->fcntl(fd, F_GETFD);

	if (flags < 0 ||
	    next.dup3(from, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return -1;
	return pvfs_fcntl(fd, F_SETFD, (long)flags);
}

static bool is_regular(int fd)
{
	struct pvfs_filestat meta;

	return !pvfs_ioctl(fd, GETMETA, &meta);
}

int file_offset_create(int fd)
{
	int saved = errno, from, rc;

	if (!is_regular(fd)) {
		errno = saved;
		return 0;
	}
	from = create_stub();
	if (from < 0)
		return -1;
	rc = place_stub(fd, from);
	next.close(from);
	if (!rc)
		errno = saved;
	return rc;
}

/* False for directories, and for descriptors from a program that uses libpvfs itself. */
static bool kernel_has_offset(int fd)
{
	int flags = libc()->fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH);
}

/* ---- calls ---- */

/* Updates libpvfs, because the next program may use it directly. */
static off_t tell_libpvfs(int fd, off_t off)
{
	int saved = errno;

	if (off >= 0)
		pvfs_lseek(fd, off, SEEK_SET);
	errno = saved;
	return off;
}

bool file_offset_check_list(const struct iovec *iov, int n)
{
	if (n < 0 || n > IOV_MAX) {
		errno = EINVAL;
		return false;
	}
	if (!n || (iov && can_read_memory(iov, (size_t)n * sizeof(*iov))))
		return true;
	errno = EFAULT;
	return false;
}

static size_t sum_bytes(const struct iovec *iov, int n)
{
	size_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
			return SIZE_MAX;
	}
	return sum;
}

/*
 * If another write followed meanwhile, moving back would overwrite it.  Then the file
 * keeps a hole.
 */
static off_t move_offset_back(int fd, bool write, off_t end, off_t missing)
{
	off_t now = write ? libc()->lseek(fd, 0, SEEK_CUR) : end;

	return now == end ? libc()->lseek(fd, -missing, SEEK_CUR) : now;
}

/*
 * Advances the offset first, and moves it back by the bytes not transferred, because
 * other threads may transfer concurrently.
 */
static ssize_t transfer_at_offset(int fd, const struct iovec *iov, int n,
				  bool write)
{
	size_t len = sum_bytes(iov, n);
	off_t end, missing;
	ssize_t done;

	end = len <= INT64_MAX ? libc()->lseek(fd, (off_t)len, SEEK_CUR) : -1;
	if (end < 0) {
		errno = EINVAL;
		return -1;
	}
	done = write ? pvfs_pwritev(fd, iov, n, end - (off_t)len)
		     : pvfs_preadv(fd, iov, n, end - (off_t)len);
	missing = (off_t)len - (done < 0 ? 0 : done);
	if (missing)
		end = move_offset_back(fd, write, end, missing);
	tell_libpvfs(fd, end);
	return done;
}

ssize_t file_offset_readv(int fd, const struct iovec *iov, int n)
{
	if (!file_offset_check_list(iov, n))
		return -1;
	return kernel_has_offset(fd) ? transfer_at_offset(fd, iov, n, false)
				     : pvfs_readv(fd, iov, n);
}

/* The servers determine the end of the file. */
static ssize_t append_data(int fd, const struct iovec *iov, int n)
{
	ssize_t done = pvfs_writev(fd, iov, n);

	if (done > 0)
		libc()->lseek(fd, pvfs_lseek(fd, 0, SEEK_CUR), SEEK_SET);
	return done;
}

ssize_t file_offset_writev(int fd, const struct iovec *iov, int n)
{
	if (!file_offset_check_list(iov, n))
		return -1;
	if (!kernel_has_offset(fd))
		return pvfs_writev(fd, iov, n);
	return pvfs_fcntl(fd, F_GETFL) & O_APPEND
		       ? append_data(fd, iov, n)
		       : transfer_at_offset(fd, iov, n, true);
}

off_t file_offset_seek(int fd, off_t off, int whence)
{
	if (!kernel_has_offset(fd))
		return pvfs_lseek(fd, off, whence);
	if (whence != SEEK_SET && whence != SEEK_CUR) {
		off = pvfs_lseek(fd, off, whence);
		whence = SEEK_SET;
		if (off < 0)
			return -1;
	}
	return tell_libpvfs(fd, libc()->lseek(fd, off, whence));
}

/* ---- copying between files ---- */

/* NULL: the caller gave an offset, or libpvfs has the offset. */
static int64_t *own_offset(int fd, int64_t *given, int64_t *own)
{
	if (given || !pvfs_is_pvfs_fd(fd) || !kernel_has_offset(fd))
		return NULL;
	*own = libc()->lseek(fd, 0, SEEK_CUR);
	return own;
}

ssize_t file_offset_copy(int in, int64_t *in_off, int out, int64_t *out_off,
			 size_t n, unsigned int flags)
{
	int64_t a, b, *from, *to;
	ssize_t done;

	if ((in_off && copy_out(in_off, in_off, sizeof(*in_off))) ||
	    (out_off && copy_out(out_off, out_off, sizeof(*out_off))))
		return -1;
	from = own_offset(in, in_off, &a);
	to = own_offset(out, out_off, &b);
	done = pvfs_copy_file_range(in, from ? from : in_off, out,
				    to ? to : out_off, n, flags);
	if (done > 0 && from)
		tell_libpvfs(in, libc()->lseek(in, a, SEEK_SET));
	if (done > 0 && to)
		tell_libpvfs(out, libc()->lseek(out, b, SEEK_SET));
	return done;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * descriptors.c - the other calls of libc on descriptors: flushing, closing, duplicating,
 * and those that depend on the size of a file.
 */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "client/preload/bypass/bypass_io.h"
#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/own_fds.h"

EXPORT int fsync(int fd);
EXPORT int fdatasync(int fd);
EXPORT int close(int fd);
EXPORT int close_range(unsigned int first, unsigned int last, int flags);
EXPORT void closefrom(int first);
EXPORT int dup2(int fd, int to);
EXPORT int dup3(int fd, int to, int flags);
EXPORT_TWICE(void *, mmap, mmap64,
	     (void *at, size_t len, int prot, int flags, int fd, off_t off));
EXPORT_TWICE(int, ftruncate, ftruncate64, (int fd, off_t size));
EXPORT_TWICE(ssize_t, sendfile, sendfile64,
	     (int out, int in, off_t *off, size_t n));
EXPORT ssize_t copy_file_range(int in, off64_t *in_off, int out,
			       off64_t *out_off, size_t n, unsigned int flags);
EXPORT ssize_t splice(int in, off64_t *in_off, int out, off64_t *out_off,
		      size_t n, unsigned int flags);

/* ---- flushing data that bypassed the mount, and data that did not ---- */

int fsync(int fd)
{
	int rc = next.fsync(fd);

	return fd < 0 ? rc : bypass_io_sync(fd, rc);
}

int fdatasync(int fd)
{
	int rc = next.fdatasync(fd);

	return fd < 0 ? rc : bypass_io_sync(fd, rc);
}

/* ---- closing ---- */

/*
 * Correctness does not depend on this, because libc closes many descriptors without
 * calling it.
 */
int close(int fd)
{
	if (fd >= 0 && own_fds_has((unsigned int)fd)) {
		errno = EBADF;
		return -1;
	}
	if (desc_seems_ours(fd))
		bypass_close(fd);
	desc_number_closed(fd);
	return next.close(fd);
}

/* ---- descriptors of the library ---- */

int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int at;

	if (first > last)
		return next.close_range(first, last, flags);
	for (at = first; at <= last && at < OWN_FDS_MAX; at++) {
		if (!own_fds_has(at))
			continue;
		if (at > first && next.close_range(first, at - 1, flags))
			return -1;
		first = at + 1;
	}
	return first <= last ? next.close_range(first, last, flags) : 0;
}

void closefrom(int first)
{
	close_range(first < 0 ? 0 : (unsigned int)first, ~0u, 0);
}

static bool is_reserved(int to)
{
	if (to < 0 || !own_fds_has((unsigned int)to))
		return false;
	errno = EBUSY;
	return true;
}

/* The previous file of the number was closed. */
static int finish_dup(int to)
{
	if (to >= 0)
		desc_number_closed(to);
	return to;
}

int dup2(int fd, int to)
{
	return is_reserved(to) ? -1 : finish_dup(next.dup2(fd, to));
}

int dup3(int fd, int to, int flags)
{
	return is_reserved(to) ? -1 : finish_dup(next.dup3(fd, to, flags));
}

/* ---- calls that depend on the size of a file ---- */

/* The kernel checks RLIMIT_FSIZE only for growth beyond the size that it has cached. */
int ftruncate(int fd, off_t size)
{
	struct rlimit limit;

	if (desc_seems_ours(fd) && !getrlimit(RLIMIT_FSIZE, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		bypass_refresh_size(fd);
	return next.ftruncate(fd, size);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	if (!(flags & MAP_ANONYMOUS))
		bypass_refresh_size(fd);
	return next.mmap(at, len, prot, flags, fd, off);
}

ssize_t sendfile(int out, int in, off_t *off, size_t n)
{
	bypass_refresh_size(in);
	return next.sendfile(out, in, off, n);
}

ssize_t copy_file_range(int in, off64_t *in_off, int out, off64_t *out_off,
			size_t n, unsigned int flags)
{
	bypass_refresh_size(in);
	return next.copy_file_range(in, in_off, out, out_off, n, flags);
}

ssize_t splice(int in, off64_t *in_off, int out, off64_t *out_off, size_t n,
	       unsigned int flags)
{
	bypass_refresh_size(in);
	return next.splice(in, in_off, out, out_off, n, flags);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c - the libc calls that libpvfs-preload.so replaces.  Calls that it does not
 * handle pass on to the kernel.
 */
/* The functions are defined under both names, with and without 64. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "client/preload/keep.h"
#include "client/preload/move.h"
#include "client/preload/next.h"
#include "client/preload/numbers.h"
#include "client/preload/self.h"

_Static_assert(sizeof(off_t) == 8, "64 bit systems only");

#define OURS __attribute__((visibility("default")))
/* Out of line, so that calls that only pass through need no stack for it. */
#define APART __attribute__((noinline))
/* A call, and its name for programs that require 64-bit offsets on all systems. */
#define TWO_NAMES(type, name, name64, args)                                    \
	OURS type name args;                                                   \
	OURS type name64 args __attribute__((alias(#name)))

OURS ssize_t read(int fd, void *buf, size_t n);
OURS ssize_t write(int fd, const void *buf, size_t n);
OURS ssize_t readv(int fd, const struct iovec *iov, int niov);
OURS ssize_t writev(int fd, const struct iovec *iov, int niov);
OURS ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
OURS ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t room);
OURS ssize_t __pread64_chk(int fd, void *buf, size_t n, off_t off, size_t room);
OURS int fsync(int fd);
OURS int fdatasync(int fd);
OURS int close(int fd);
OURS int close_range(unsigned int first, unsigned int last, int flags);
OURS void closefrom(int first);
OURS int dup2(int fd, int to);
OURS int dup3(int fd, int to, int flags);

TWO_NAMES(ssize_t, pread, pread64, (int fd, void *buf, size_t n, off_t off));
TWO_NAMES(ssize_t, pwrite, pwrite64,
	  (int fd, const void *buf, size_t n, off_t off));
TWO_NAMES(ssize_t, preadv, preadv64,
	  (int fd, const struct iovec *iov, int niov, off_t off));
TWO_NAMES(ssize_t, pwritev, pwritev64,
	  (int fd, const struct iovec *iov, int niov, off_t off));
TWO_NAMES(ssize_t, preadv2, preadv64v2,
	  (int fd, const struct iovec *iov, int niov, off_t off, int flags));
TWO_NAMES(ssize_t, pwritev2, pwritev64v2,
	  (int fd, const struct iovec *iov, int niov, off_t off, int flags));
TWO_NAMES(void *, mmap, mmap64,
	  (void *at, size_t len, int prot, int flags, int fd, off_t off));
TWO_NAMES(int, ftruncate, ftruncate64, (int fd, off_t size));
TWO_NAMES(ssize_t, sendfile, sendfile64,
	  (int out, int in, off_t *off, size_t n));
OURS ssize_t copy_file_range(int in, off64_t *in_off, int out, off64_t *out_off,
			     size_t n, unsigned int flags);
OURS ssize_t splice(int in, off64_t *in_off, int out, off64_t *out_off,
		    size_t n, unsigned int flags);

/* ---- refreshing the kernel's attributes ---- */

/* The kernel uses the size that it has cached, so refresh it. */
static void refresh(int fd)
{
	if (fd < 0 || self_busy())
		return;
	self_enter();
	desc_refresh(fd);
	self_leave();
}

/* ---- at the file offset ---- */

static APART ssize_t our_read(int fd, void *buf, size_t n)
{
	const struct iovec iov = { buf, n };
	struct move m;

	if (!move_begin(&m, fd, false, &iov, 1))
		return next.read(fd, buf, n);
	return move_here(&m);
}

ssize_t read(int fd, void *buf, size_t n)
{
	return number_may(fd, n) ? our_read(fd, buf, n) : next.read(fd, buf, n);
}

static APART ssize_t our_write(int fd, const void *buf, size_t n)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };
	struct move m;

	if (!move_begin(&m, fd, true, &iov, 1))
		return next.write(fd, buf, n);
	return move_here(&m);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	return number_may(fd, n) ? our_write(fd, buf, n)
				 : next.write(fd, buf, n);
}

ssize_t readv(int fd, const struct iovec *iov, int niov)
{
	struct move m;

	if (!number_may(fd, 0) || !move_begin_list(&m, fd, false, iov, niov))
		return next.readv(fd, iov, niov);
	return move_here(&m);
}

ssize_t writev(int fd, const struct iovec *iov, int niov)
{
	struct move m;

	if (!number_may(fd, 0) || !move_begin_list(&m, fd, true, iov, niov))
		return next.writev(fd, iov, niov);
	return move_here(&m);
}

/* ---- at a given offset ---- */

static APART ssize_t our_pread(int fd, void *buf, size_t n, off_t off)
{
	const struct iovec iov = { buf, n };
	struct move m;

	if (!move_begin(&m, fd, false, &iov, 1))
		return next.pread(fd, buf, n, off);
	return move_at(&m, off);
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	return number_may(fd, n) ? our_pread(fd, buf, n, off)
				 : next.pread(fd, buf, n, off);
}

static APART ssize_t our_pwrite(int fd, const void *buf, size_t n, off_t off)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, n };
	struct move m;

	if (!move_begin(&m, fd, true, &iov, 1))
		return next.pwrite(fd, buf, n, off);
	return move_at(&m, off);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	return number_may(fd, n) ? our_pwrite(fd, buf, n, off)
				 : next.pwrite(fd, buf, n, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int niov, off_t off)
{
	struct move m;

	if (!number_may(fd, 0) || !move_begin_list(&m, fd, false, iov, niov))
		return next.preadv(fd, iov, niov, off);
	return move_at(&m, off);
}

ssize_t pwritev(int fd, const struct iovec *iov, int niov, off_t off)
{
	struct move m;

	if (!number_may(fd, 0) || !move_begin_list(&m, fd, true, iov, niov))
		return next.pwritev(fd, iov, niov, off);
	return move_at(&m, off);
}

ssize_t preadv2(int fd, const struct iovec *iov, int niov, off_t off, int flags)
{
	struct move m;

	if (flags || !number_may(fd, 0) ||
	    !move_begin_list(&m, fd, false, iov, niov))
		return next.preadv2(fd, iov, niov, off, flags);
	return off == -1 ? move_here(&m) : move_at(&m, off);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int niov, off_t off,
		 int flags)
{
	struct move m;

	if (flags)
		refresh(fd);
	if (flags || !number_may(fd, 0) ||
	    !move_begin_list(&m, fd, true, iov, niov))
		return next.pwritev2(fd, iov, niov, off, flags);
	return off == -1 ? move_here(&m) : move_at(&m, off);
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

/* ---- flushing data that bypassed the mount, and data that did not ---- */

int fsync(int fd)
{
	int rc = next.fsync(fd);

	return fd < 0 ? rc : move_sync(fd, rc);
}

int fdatasync(int fd)
{
	int rc = next.fdatasync(fd);

	return fd < 0 ? rc : move_sync(fd, rc);
}

/* ---- closing ---- */

/*
 * Correctness does not depend on this, because libc closes many descriptors without
 * calling it.
 */
int close(int fd)
{
	if (fd >= 0 && keep_has((unsigned int)fd)) {
		errno = EBADF;
		return -1;
	}
	if (number_is_ours(fd) && !self_busy()) {
		self_enter();
		desc_close(fd);
		self_leave();
	}
	number_closed(fd);
	return next.close(fd);
}

/* ---- descriptors of the library ---- */

int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int at;

	if (first > last)
		return next.close_range(first, last, flags);
	for (at = first; at <= last && at < KEEP_MAX; at++) {
		if (!keep_has(at))
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

static bool taken(int to)
{
	if (to < 0 || !keep_has((unsigned int)to))
		return false;
	errno = EBUSY;
	return true;
}

/* The previous file of the number was closed. */
static int duplicated(int to)
{
	if (to >= 0)
		number_closed(to);
	return to;
}

int dup2(int fd, int to)
{
	return taken(to) ? -1 : duplicated(next.dup2(fd, to));
}

int dup3(int fd, int to, int flags)
{
	return taken(to) ? -1 : duplicated(next.dup3(fd, to, flags));
}

/* ---- calls that depend on the size of a file ---- */

/* The kernel checks RLIMIT_FSIZE only for growth beyond the size that it has cached. */
int ftruncate(int fd, off_t size)
{
	struct rlimit most;

	if (number_is_ours(fd) && !getrlimit(RLIMIT_FSIZE, &most) &&
	    most.rlim_cur != RLIM_INFINITY)
		refresh(fd);
	return next.ftruncate(fd, size);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	if (!(flags & MAP_ANONYMOUS))
		refresh(fd);
	return next.mmap(at, len, prot, flags, fd, off);
}

ssize_t sendfile(int out, int in, off_t *off, size_t n)
{
	refresh(in);
	return next.sendfile(out, in, off, n);
}

ssize_t copy_file_range(int in, off64_t *in_off, int out, off64_t *out_off,
			size_t n, unsigned int flags)
{
	refresh(in);
	return next.copy_file_range(in, in_off, out, out_off, n, flags);
}

ssize_t splice(int in, off64_t *in_off, int out, off64_t *out_off, size_t n,
	       unsigned int flags)
{
	refresh(in);
	return next.splice(in, in_off, out, out_off, n, flags);
}

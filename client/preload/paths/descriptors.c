/* SPDX-License-Identifier: BSD-2-Clause */
/* descriptors.c - duplicating and closing descriptors; their locks. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/paths/startup.h"
#include "client/preload/paths/streams.h"
#include "client/preload/route/file_offset.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

#define CLOEXEC_ONLY 4u /* CLOSE_RANGE_CLOEXEC */

/* ---- called through next.h ---- */

static int close_pvfs_fd(int fd)
{
	int rc;

	streams_flush(fd);
	rc = PVFS(pvfs_close(fd));
	route_forget_fd(fd);
	streams_follow(fd);
	return rc;
}

static int routed_close(int fd)
{
	enum route route = route_fd(fd, "close");

	if (route == ROUTE_PVFS)
		return close_pvfs_fd(fd);
	/* the kernel has a descriptor with this number, too */
	if (route == ROUTE_REFUSED)
		route_forget_fd(fd);
	return next_library.close(fd);
}

static int routed_close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int fd;

	for (fd = first; fd <= last && fd < ROUTE_FDS; fd++) {
		if (route_fd_kinds[fd] != FD_PVFS ||
		    route_fd((int)fd, "close_range") != ROUTE_PVFS)
			continue;
		if (flags & CLOEXEC_ONLY)
			PVFS(pvfs_fcntl((int)fd, F_SETFD, (long)FD_CLOEXEC));
		else
			close_pvfs_fd((int)fd);
	}
	return next_library.close_range(first, last, flags);
}

/* At least one of them is ours. */
static int dup_in_pvfs(int fd, int to, int flags)
{
	int rc;

	streams_flush(to);
	rc = PVFS(pvfs_dup2(fd, to));
	if (rc >= 0 && flags & O_CLOEXEC)
		PVFS(pvfs_fcntl(to, F_SETFD, (long)FD_CLOEXEC));
	return streams_follow(route_add_duplicate(rc));
}

static int routed_dup2(int fd, int to)
{
	enum route a = route_fd(fd, "dup2"), b = route_fd(to, "dup2");

	if (a == ROUTE_REFUSED)
		return -1;
	if (fd == to || (a == ROUTE_KERNEL && b != ROUTE_PVFS)) {
		if (b == ROUTE_REFUSED)
			route_forget_fd(to);
		return next_library.dup2(fd, to);
	}
	return dup_in_pvfs(fd, to, 0);
}

static int routed_dup3(int fd, int to, int flags)
{
	enum route a = route_fd(fd, "dup3"), b = route_fd(to, "dup3");

	if (a == ROUTE_REFUSED)
		return -1;
	if (fd == to || flags & ~O_CLOEXEC ||
	    (a == ROUTE_KERNEL && b != ROUTE_PVFS)) {
		if (b == ROUTE_REFUSED)
			route_forget_fd(to);
		return next_library.dup3(fd, to, flags);
	}
	return dup_in_pvfs(fd, to, flags);
}

void descriptors_begin(void)
{
	next.close = routed_close;
	next.close_range = routed_close_range;
	next.dup2 = routed_dup2;
	next.dup3 = routed_dup3;
}

/* ---- calls of libc ---- */

EXPORT int dup(int fd);
EXPORT_TWICE(int, fcntl, fcntl64, (int fd, int cmd, ...));

int dup(int fd)
{
	enum route route = route_fd(fd, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->dup(fd);
	return route == ROUTE_PVFS
		       ? streams_follow(route_add_duplicate(PVFS(pvfs_dup(fd))))
		       : -1;
}

/* Updates the offset in libpvfs, for locks relative to it. */
static void update_pvfs_offset(int fd)
{
	int saved = errno;

	PVFS(file_offset_seek(fd, 0, SEEK_CUR));
	errno = saved;
}

static int lock_range(int fd, int cmd, struct flock *range)
{
	struct flock own;
	int rc;

	if (!range || !can_read_memory(range, sizeof(*range))) {
		errno = EFAULT;
		return -1;
	}
	own = *range;
	if (cmd == F_SETLKW || cmd == F_OFD_SETLKW)
		return PVFS_WAITING(pvfs_fcntl(fd, cmd, (long)&own));
	rc = PVFS(pvfs_fcntl(fd, cmd, (long)&own));
	if (!rc && (cmd == F_GETLK || cmd == F_OFD_GETLK))
		rc = copy_out(range, &own, sizeof(own));
	return rc;
}

static bool is_range(int cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW ||
	       cmd == F_OFD_GETLK || cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
}

/* Hints, leases and similar commands fail with EINVAL. */
static int fcntl_in_pvfs(int fd, int cmd, long arg)
{
	int rc;

	update_pvfs_offset(fd);
	if (is_range(cmd))
		return lock_range(fd, cmd, (struct flock *)arg);
	rc = PVFS(pvfs_fcntl(fd, cmd, arg));
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC
		       ? streams_follow(route_add_duplicate(rc))
		       : rc;
}

int fcntl(int fd, int cmd, ...)
{
	enum route route = route_fd(fd, __func__);
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (route == ROUTE_KERNEL)
		return libc()->fcntl(fd, cmd, arg);
	return route == ROUTE_PVFS ? fcntl_in_pvfs(fd, cmd, arg) : -1;
}

/* ---- locks ---- */

EXPORT int flock(int fd, int operation);
EXPORT_TWICE(int, lockf, lockf64, (int fd, int cmd, off_t len));

int flock(int fd, int operation)
{
	enum route route = route_fd(fd, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->flock(fd, operation);
	return route == ROUTE_PVFS ? PVFS_WAITING(pvfs_flock(fd, operation))
				   : -1;
}

/*
 * Tests whether the range could be locked.  0; -1 with errno: EACCES if another owner has locked a
 * part of it.
 */
static int test_lock(int fd, struct flock *lock)
{
	if (fcntl_in_pvfs(fd, F_GETLK, (long)lock))
		return -1;
	if (lock->l_type == F_UNLCK)
		return 0;
	errno = EACCES;
	return -1;
}

static int lockf_in_pvfs(int fd, int cmd, off_t len)
{
	struct flock lock = { .l_type = cmd == F_ULOCK ? F_UNLCK : F_WRLCK,
			      .l_whence = SEEK_CUR,
			      .l_len = len };

	switch (cmd) {
	case F_TEST:
		return test_lock(fd, &lock);
	case F_ULOCK:
	case F_TLOCK:
		return fcntl_in_pvfs(fd, F_SETLK, (long)&lock);
	case F_LOCK:
		return fcntl_in_pvfs(fd, F_SETLKW, (long)&lock);
	}
	errno = EINVAL;
	return -1;
}

int lockf(int fd, int cmd, off_t len)
{
	enum route route = route_fd(fd, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->lockf(fd, cmd, len);
	return route == ROUTE_PVFS ? lockf_in_pvfs(fd, cmd, len) : -1;
}

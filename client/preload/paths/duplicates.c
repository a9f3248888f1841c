/* SPDX-License-Identifier: BSD-2-Clause */
/* duplicates.c - duplicating and closing descriptors; their locks. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/paths/offset.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/streams.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define CLOEXEC_ONLY 4u /* CLOSE_RANGE_CLOEXEC */

static const struct next *behind;

/* ---- called through next.h ---- */

static int end(int fd)
{
	int rc;

	streams_leave(fd);
	rc = PVFS(pvfs_close(fd));
	whose_closed(fd);
	streams_look(fd);
	return rc;
}

static int our_close(int fd)
{
	enum whose whose = whose_fd(fd, "close");

	if (whose == OURS)
		return end(fd);
	/* the kernel has a descriptor with this number, too */
	if (whose == REFUSED)
		whose_closed(fd);
	return behind->close(fd);
}

static int our_close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int fd;

	for (fd = first; fd <= last && fd < WHOSE_NUMBERS; fd++) {
		if (whose_number[fd] != HELD ||
		    whose_fd((int)fd, "close_range") != OURS)
			continue;
		if (flags & CLOEXEC_ONLY)
			PVFS(pvfs_fcntl((int)fd, F_SETFD, (long)FD_CLOEXEC));
		else
			end((int)fd);
	}
	return behind->close_range(first, last, flags);
}

/* At least one of them is ours. */
static int put(int fd, int to, int flags)
{
	int rc;

	streams_leave(to);
	rc = PVFS(pvfs_dup2(fd, to));
	if (rc >= 0 && flags & O_CLOEXEC)
		PVFS(pvfs_fcntl(to, F_SETFD, (long)FD_CLOEXEC));
	return whose_new(rc);
}

static int our_dup2(int fd, int to)
{
	enum whose a = whose_fd(fd, "dup2"), b = whose_fd(to, "dup2");

	if (a == REFUSED)
		return -1;
	if (fd == to || (a == KERNELS && b != OURS)) {
		if (b == REFUSED)
			whose_closed(to);
		return behind->dup2(fd, to);
	}
	return put(fd, to, 0);
}

static int our_dup3(int fd, int to, int flags)
{
	enum whose a = whose_fd(fd, "dup3"), b = whose_fd(to, "dup3");

	if (a == REFUSED)
		return -1;
	if (fd == to || flags & ~O_CLOEXEC || (a == KERNELS && b != OURS)) {
		if (b == REFUSED)
			whose_closed(to);
		return behind->dup3(fd, to, flags);
	}
	return put(fd, to, flags);
}

void numbers_behind(const struct next *before)
{
	behind = before;
	next.close = our_close;
	next.close_range = our_close_range;
	next.dup2 = our_dup2;
	next.dup3 = our_dup3;
}

/* ---- calls of libc ---- */

SEEN int dup(int fd);
TWO_NAMES(int, fcntl, fcntl64, (int fd, int cmd, ...));

int dup(int fd)
{
	enum whose whose = whose_fd(fd, __func__);

	if (whose == KERNELS)
		return under()->dup(fd);
	return whose == OURS ? whose_new(PVFS(pvfs_dup(fd))) : -1;
}

/* Updates the offset in libpvfs, for locks relative to it. */
static void tell_offset(int fd)
{
	int saved = errno;

	PVFS(offset_seek(fd, 0, SEEK_CUR));
	errno = saved;
}

static int lock_range(int fd, int cmd, struct flock *range)
{
	struct flock own;
	int rc;

	if (!range || !can_read(range, sizeof(*range))) {
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
static int our_fcntl(int fd, int cmd, long arg)
{
	int rc;

	tell_offset(fd);
	if (is_range(cmd))
		return lock_range(fd, cmd, (struct flock *)arg);
	rc = PVFS(pvfs_fcntl(fd, cmd, arg));
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? whose_new(rc) : rc;
}

int fcntl(int fd, int cmd, ...)
{
	enum whose whose = whose_fd(fd, __func__);
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (whose == KERNELS)
		return under()->fcntl(fd, cmd, arg);
	return whose == OURS ? our_fcntl(fd, cmd, arg) : -1;
}

/* ---- locks ---- */

SEEN int flock(int fd, int operation);
TWO_NAMES(int, lockf, lockf64, (int fd, int cmd, off_t len));

int flock(int fd, int operation)
{
	enum whose whose = whose_fd(fd, __func__);

	if (whose == KERNELS)
		return under()->flock(fd, operation);
	return whose == OURS ? PVFS_WAITING(pvfs_flock(fd, operation)) : -1;
}

/* EACCES: another owner has locked a part of it. */
static int test(int fd, struct flock *lock)
{
	if (our_fcntl(fd, F_GETLK, (long)lock))
		return -1;
	if (lock->l_type == F_UNLCK)
		return 0;
	errno = EACCES;
	return -1;
}

static int our_lockf(int fd, int cmd, off_t len)
{
	struct flock lock = { .l_type = cmd == F_ULOCK ? F_UNLCK : F_WRLCK,
			      .l_whence = SEEK_CUR,
			      .l_len = len };

	switch (cmd) {
	case F_TEST:
		return test(fd, &lock);
	case F_ULOCK:
	case F_TLOCK:
		return our_fcntl(fd, F_SETLK, (long)&lock);
	case F_LOCK:
		return our_fcntl(fd, F_SETLKW, (long)&lock);
	}
	errno = EINVAL;
	return -1;
}

int lockf(int fd, int cmd, off_t len)
{
	enum whose whose = whose_fd(fd, __func__);

	if (whose == KERNELS)
		return under()->lockf(fd, cmd, len);
	return whose == OURS ? our_lockf(fd, cmd, len) : -1;
}

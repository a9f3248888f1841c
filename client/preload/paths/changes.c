/* SPDX-License-Identifier: BSD-2-Clause */
/* changes.c - changing attributes. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <unistd.h>

#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

TWO_NAMES(int, truncate, truncate64, (const char *path, off_t size));
SEEN int chmod(const char *path, mode_t mode);
SEEN int lchmod(const char *path, mode_t mode);
SEEN int fchmod(int fd, mode_t mode);
SEEN int fchmodat(int dir, const char *path, mode_t mode, int flags);
SEEN int chown(const char *path, uid_t uid, gid_t gid);
SEEN int lchown(const char *path, uid_t uid, gid_t gid);
SEEN int fchown(int fd, uid_t uid, gid_t gid);
SEEN int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags);
SEEN int utime(const char *path, const struct utimbuf *times);
SEEN int utimes(const char *path, const struct timeval times[2]);
SEEN int lutimes(const char *path, const struct timeval times[2]);
SEEN int futimes(int fd, const struct timeval times[2]);
SEEN int futimesat(int dir, const char *path, const struct timeval times[2]);
SEEN int futimens(int fd, const struct timespec times[2]);
SEEN int utimensat(int dir, const char *path, const struct timespec times[2],
		   int flags);

int truncate(const char *path, off_t size)
{
	return BY_PATH(AT_FDCWD, path, pvfs_truncate(at.path, size),
		       under()->truncate(path, size));
}

/* ---- modes ---- */

int chmod(const char *path, mode_t mode)
{
	return BY_PATH(AT_FDCWD, path, pvfs_chmod(at.path, mode),
		       under()->chmod(path, mode));
}

int lchmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}

int fchmod(int fd, mode_t mode)
{
	return BY_FD(fd, pvfs_fchmod(fd, mode), under()->fchmod(fd, mode));
}

int fchmodat(int dir, const char *path, mode_t mode, int flags)
{
	return BY_PATH(dir, path, pvfs_fchmodat(dir, at.path, mode, flags),
		       under()->fchmodat(dir, path, mode, flags));
}

/* ---- owners ---- */

int chown(const char *path, uid_t uid, gid_t gid)
{
	return BY_PATH(AT_FDCWD, path, pvfs_chown(at.path, uid, gid),
		       under()->chown(path, uid, gid));
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	return BY_PATH(AT_FDCWD, path, pvfs_lchown(at.path, uid, gid),
		       under()->lchown(path, uid, gid));
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	return BY_FD(fd, pvfs_fchown(fd, uid, gid),
		     under()->fchown(fd, uid, gid));
}

static int own_at(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
	if (flags & AT_EMPTY_PATH && !*path)
		return pvfs_fchown(dir, uid, gid);
	return pvfs_fchownat(dir, path, uid, gid, flags & ~AT_EMPTY_PATH);
}

int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
	return BY_PATH(dir, path, own_at(dir, at.path, uid, gid, flags),
		       under()->fchownat(dir, path, uid, gid, flags));
}

/* ---- times ---- */

/* times NULL: the current time; path NULL: the object that dir has open. */
static int times_at(int dir, const char *path, const struct timespec *times,
		    int flags)
{
	if (!can_read(times, 2 * sizeof(*times)))
		return -1;
	if (!path || !*path)
		return pvfs_futimens(dir, times);
	return pvfs_utimensat(dir, path, times, flags);
}

static int coarse_at(int dir, const char *path, const struct timeval *from,
		     int flags)
{
	struct timespec to[2];
	int i;

	if (!can_read(from, 2 * sizeof(*from)))
		return -1;
	for (i = 0; from && i < 2; i++) {
		if (from[i].tv_usec < 0 || from[i].tv_usec >= 1000000) {
			errno = EINVAL;
			return -1;
		}
		to[i] = (struct timespec){ from[i].tv_sec,
					   from[i].tv_usec * 1000 };
	}
	return times_at(dir, path, from ? to : NULL, flags);
}

static int utime_of(const char *path, const struct utimbuf *times)
{
	return can_read(times, sizeof(*times)) ? pvfs_utime(path, times) : -1;
}

int utime(const char *path, const struct utimbuf *times)
{
	return BY_PATH(AT_FDCWD, path, utime_of(at.path, times),
		       under()->utime(path, times));
}

int utimes(const char *path, const struct timeval times[2])
{
	return BY_PATH(AT_FDCWD, path, coarse_at(AT_FDCWD, at.path, times, 0),
		       under()->utimes(path, times));
}

int lutimes(const char *path, const struct timeval times[2])
{
	return BY_PATH(AT_FDCWD, path,
		       coarse_at(AT_FDCWD, at.path, times, AT_SYMLINK_NOFOLLOW),
		       under()->lutimes(path, times));
}

int futimes(int fd, const struct timeval times[2])
{
	return BY_FD(fd, coarse_at(fd, NULL, times, 0),
		     under()->futimes(fd, times));
}

int futimens(int fd, const struct timespec times[2])
{
	return BY_FD(fd, times_at(fd, NULL, times, 0),
		     under()->futimens(fd, times));
}

int utimensat(int dir, const char *path, const struct timespec times[2],
	      int flags)
{
	return BY_PATH(dir, path, times_at(dir, at.path, times, flags),
		       under()->utimensat(dir, path, times, flags));
}

/* Without a path: the object that dir has open. */
int futimesat(int dir, const char *path, const struct timeval times[2])
{
	if (!path && dir != AT_FDCWD)
		return futimes(dir, times);
	return BY_PATH(dir, path, coarse_at(dir, at.path, times, 0),
		       under()->futimesat(dir, path, times));
}

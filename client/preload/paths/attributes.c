/* SPDX-License-Identifier: BSD-2-Clause */
/* attributes.c - attributes of files and file systems. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client/lib/names/mounted.h"
#include "client/preload/export.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

EXPORT_TWICE(int, stat, stat64, (const char *path, struct stat *st));
EXPORT_TWICE(int, lstat, lstat64, (const char *path, struct stat *st));
EXPORT_TWICE(int, fstat, fstat64, (int fd, struct stat *st));
EXPORT_TWICE(int, fstatat, fstatat64,
	     (int dir, const char *path, struct stat *st, int flags));
EXPORT_TWICE(int, __xstat, __xstat64,
	     (int v, const char *path, struct stat *st));
EXPORT_TWICE(int, __lxstat, __lxstat64,
	     (int v, const char *path, struct stat *st));
EXPORT_TWICE(int, __fxstat, __fxstat64, (int v, int fd, struct stat *st));
EXPORT_TWICE(int, __fxstatat, __fxstatat64,
	     (int v, int dir, const char *path, struct stat *st, int flags));
EXPORT_TWICE(int, statfs, statfs64, (const char *path, struct statfs *st));
EXPORT_TWICE(int, fstatfs, fstatfs64, (int fd, struct statfs *st));
EXPORT_TWICE(int, statvfs, statvfs64, (const char *path, struct statvfs *st));
EXPORT_TWICE(int, fstatvfs, fstatvfs64, (int fd, struct statvfs *st));
EXPORT int statx(int dir, const char *path, int flags, unsigned int mask,
		 struct statx *stx);
EXPORT int access(const char *path, int mode);
EXPORT int euidaccess(const char *path, int mode);
EXPORT int eaccess(const char *path, int mode);
EXPORT int faccessat(int dir, const char *path, int mode, int flags);
EXPORT long pathconf(const char *path, int what);
EXPORT long fpathconf(int fd, int what);
EXPORT_TWICE(int, truncate, truncate64, (const char *path, off_t size));
EXPORT int chmod(const char *path, mode_t mode);
EXPORT int lchmod(const char *path, mode_t mode);
EXPORT int fchmod(int fd, mode_t mode);
EXPORT int fchmodat(int dir, const char *path, mode_t mode, int flags);
EXPORT int chown(const char *path, uid_t uid, gid_t gid);
EXPORT int lchown(const char *path, uid_t uid, gid_t gid);
EXPORT int fchown(int fd, uid_t uid, gid_t gid);
EXPORT int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags);
EXPORT int utime(const char *path, const struct utimbuf *times);
EXPORT int utimes(const char *path, const struct timeval times[2]);
EXPORT int lutimes(const char *path, const struct timeval times[2]);
EXPORT int futimes(int fd, const struct timeval times[2]);
EXPORT int futimesat(int dir, const char *path, const struct timeval times[2]);
EXPORT int futimens(int fd, const struct timespec times[2]);
EXPORT int utimensat(int dir, const char *path, const struct timespec times[2],
		     int flags);

/* ---- stat ---- */

/*
 * Whether the result may be of a file in memory or a mount of PVFS: the device has no disk.  Only
 * for the program's own calls, and not in signal handlers, which must not read pvfstab.
 */
static bool is_kernel_file(int rc, uint32_t dev_major)
{
	return !rc && !dev_major && !pvfs_call_depth && !own_call_active() &&
	       roots_exist();
}

/* A file of a mount gets the st_dev that it has by its path of pvfstab. */
static int finish_kernel_stat(int rc, int dir, const char *path, int flags,
			      struct stat *st)
{
	if (is_kernel_file(rc, rc ? 0 : major(st->st_dev)))
		st->st_dev = mounted_find(dir, path, flags, st->st_dev,
					  st->st_ino);
	return rc;
}

/* path NULL: the object that dir has open. */
static int query_pvfs_stat(int dir, const char *path, struct stat *st,
			   int flags)
{
	if (!path || (flags & AT_EMPTY_PATH && !*path))
		return pvfs_fstat(dir, st);
	return pvfs_fstatat(dir, path, st, flags & AT_SYMLINK_NOFOLLOW);
}

static int stat_in_pvfs(int dir, const char *path, struct stat *st, int flags)
{
	struct stat own;
	int rc = query_pvfs_stat(dir, path, &own, flags);

	return rc ? rc : copy_out(st, &own, sizeof(own));
}

int stat(const char *path, struct stat *st)
{
	return KERNEL_FIRST(true, AT_FDCWD, path,
			    stat_in_pvfs(from, at.path, st, 0),
			    finish_kernel_stat(libc()->stat(path, st), AT_FDCWD,
					       path, 0, st));
}

int lstat(const char *path, struct stat *st)
{
	return KERNEL_FIRST(
		false, AT_FDCWD, path,
		stat_in_pvfs(from, at.path, st, AT_SYMLINK_NOFOLLOW),
		finish_kernel_stat(libc()->lstat(path, st), AT_FDCWD, path,
				   AT_SYMLINK_NOFOLLOW, st));
}

int fstat(int fd, struct stat *st)
{
	return BY_FD(fd, stat_in_pvfs(fd, NULL, st, 0),
		     finish_kernel_stat(libc()->fstat(fd, st), fd, NULL, 0,
					st));
}

/*
 * NULL means the descriptor, like an empty path.  libc declares that path is never NULL.
 * gcc 12 with -O3 believes that even with -fno-delete-null-pointer-checks, if it knows
 * that path is the parameter.
 */
static const char *path_or_empty(const char *path, int flags)
{
	__asm__("" : "+r"(path));
	return !path && flags & AT_EMPTY_PATH ? "" : path;
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	path = path_or_empty(path, flags);
	return KERNEL_FIRST(!(flags & AT_SYMLINK_NOFOLLOW), dir, path,
			    stat_in_pvfs(from, at.path, st, flags),
			    finish_kernel_stat(libc()->fstatat(dir, path, st,
							       flags),
					       dir, path, flags, st));
}

/* The forms for programs built with glibc before 2.33. */
int __xstat(int v, const char *path, struct stat *st)
{
	(void)v;
	return stat(path, st);
}

int __lxstat(int v, const char *path, struct stat *st)
{
	(void)v;
	return lstat(path, st);
}

int __fxstat(int v, int fd, struct stat *st)
{
	(void)v;
	return fstat(fd, st);
}

int __fxstatat(int v, int dir, const char *path, struct stat *st, int flags)
{
	(void)v;
	return fstatat(dir, path, st, flags);
}

/* ---- statx ---- */

static struct statx_timestamp convert_time(const struct timespec *t)
{
	return (struct statx_timestamp){ .tv_sec = t->tv_sec,
					 .tv_nsec = (uint32_t)t->tv_nsec };
}

static void convert_stat(const struct stat *st, struct statx *stx)
{
	*stx = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_blksize = (uint32_t)st->st_blksize,
		.stx_nlink = (uint32_t)st->st_nlink,
		.stx_uid = st->st_uid,
		.stx_gid = st->st_gid,
		.stx_mode = (uint16_t)st->st_mode,
		.stx_ino = st->st_ino,
		.stx_size = (uint64_t)st->st_size,
		.stx_blocks = (uint64_t)st->st_blocks,
		.stx_atime = convert_time(&st->st_atim),
		.stx_mtime = convert_time(&st->st_mtim),
		.stx_ctime = convert_time(&st->st_ctim),
		.stx_rdev_major = major(st->st_rdev),
		.stx_rdev_minor = minor(st->st_rdev),
		.stx_dev_major = major(st->st_dev),
		.stx_dev_minor = minor(st->st_dev),
	};
}

static int finish_kernel_statx(int rc, int dir, const char *path, int flags,
			       struct statx *stx)
{
	dev_t dev;

	if (!is_kernel_file(rc, rc ? 0 : stx->stx_dev_major))
		return rc;
	dev = makedev(stx->stx_dev_major, stx->stx_dev_minor);
	dev = mounted_find(dir, path, flags, dev, stx->stx_ino);
	stx->stx_dev_major = major(dev);
	stx->stx_dev_minor = minor(dev);
	return rc;
}

static int statx_in_pvfs(int dir, const char *path, int flags,
			 struct statx *stx)
{
	struct statx own;
	struct stat st;
	int rc = query_pvfs_stat(dir, path, &st, flags);

	if (rc)
		return rc;
	convert_stat(&st, &own);
	return copy_out(stx, &own, sizeof(own));
}

int statx(int dir, const char *path, int flags, unsigned int mask,
	  struct statx *stx)
{
	path = path_or_empty(path, flags);
	return KERNEL_FIRST(!(flags & AT_SYMLINK_NOFOLLOW), dir, path,
			    statx_in_pvfs(from, at.path, flags, stx),
			    finish_kernel_statx(libc()->statx(dir, path, flags,
							      mask, stx),
						dir, path, flags, stx));
}

/* ---- access ---- */

int access(const char *path, int mode)
{
	return KERNEL_FIRST(false, AT_FDCWD, path, pvfs_access(at.path, mode),
			    libc()->access(path, mode));
}

int euidaccess(const char *path, int mode)
{
	return KERNEL_FIRST(false, AT_FDCWD, path, pvfs_access(at.path, mode),
			    libc()->euidaccess(path, mode));
}

int eaccess(const char *path, int mode)
{
	return euidaccess(path, mode);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	return KERNEL_FIRST(false, dir, path,
			    pvfs_faccessat(from, at.path, mode, flags),
			    libc()->faccessat(dir, path, mode, flags));
}

/* ---- file systems ---- */

/* path NULL: the object that fd has open. */
static int statfs_in_pvfs(int fd, const char *path, struct statfs *st)
{
	struct statfs own;
	int rc = path ? pvfs_statfs(path, &own) : pvfs_fstatfs(fd, &own);

	return rc ? rc : copy_out(st, &own, sizeof(own));
}

int statfs(const char *path, struct statfs *st)
{
	return BY_PATH(AT_FDCWD, path, statfs_in_pvfs(-1, at.path, st),
		       libc()->statfs(path, st));
}

int fstatfs(int fd, struct statfs *st)
{
	return BY_FD(fd, statfs_in_pvfs(fd, NULL, st), libc()->fstatfs(fd, st));
}

static int convert_statvfs(int rc, const struct statfs *fs, struct statvfs *st)
{
	if (rc)
		return rc;
	*st = (struct statvfs){
		.f_bsize = (unsigned long)fs->f_bsize,
		.f_frsize = (unsigned long)(fs->f_frsize ? fs->f_frsize
							 : fs->f_bsize),
		.f_blocks = fs->f_blocks,
		.f_bfree = fs->f_bfree,
		.f_bavail = fs->f_bavail,
		.f_files = fs->f_files,
		.f_ffree = fs->f_ffree,
		.f_favail = fs->f_ffree,
		.f_namemax = (unsigned long)fs->f_namelen,
	};
	memcpy(&st->f_fsid, &fs->f_fsid, sizeof(st->f_fsid));
	return 0;
}

int statvfs(const char *path, struct statvfs *st)
{
	struct statfs fs;

	return BY_PATH(AT_FDCWD, path,
		       convert_statvfs(pvfs_statfs(at.path, &fs), &fs, st),
		       libc()->statvfs(path, st));
}

int fstatvfs(int fd, struct statvfs *st)
{
	struct statfs fs;

	return BY_FD(fd, convert_statvfs(pvfs_fstatfs(fd, &fs), &fs, st),
		     libc()->fstatvfs(fd, st));
}

/* -1 without an error: there is no limit. */
static long path_limit(int what)
{
	switch (what) {
	case _PC_NAME_MAX:
		return 255;
	case _PC_PATH_MAX:
		return PATH_MAX;
	case _PC_NO_TRUNC:
	case _PC_CHOWN_RESTRICTED:
		return 1;
	case _PC_FILESIZEBITS:
		return 64;
	}
	return -1;
}

long pathconf(const char *path, int what)
{
	return BY_PATH(AT_FDCWD, path, path_limit(what),
		       libc()->pathconf(path, what));
}

long fpathconf(int fd, int what)
{
	return BY_FD(fd, path_limit(what), libc()->fpathconf(fd, what));
}

/* ---- size ---- */

int truncate(const char *path, off_t size)
{
	return BY_PATH(AT_FDCWD, path, pvfs_truncate(at.path, size),
		       libc()->truncate(path, size));
}

/* ---- modes ---- */

int chmod(const char *path, mode_t mode)
{
	return BY_PATH(AT_FDCWD, path, pvfs_chmod(at.path, mode),
		       libc()->chmod(path, mode));
}

int lchmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}

int fchmod(int fd, mode_t mode)
{
	return BY_FD(fd, pvfs_fchmod(fd, mode), libc()->fchmod(fd, mode));
}

int fchmodat(int dir, const char *path, mode_t mode, int flags)
{
	return BY_PATH(dir, path, pvfs_fchmodat(dir, at.path, mode, flags),
		       libc()->fchmodat(dir, path, mode, flags));
}

/* ---- owners ---- */

int chown(const char *path, uid_t uid, gid_t gid)
{
	return BY_PATH(AT_FDCWD, path, pvfs_chown(at.path, uid, gid),
		       libc()->chown(path, uid, gid));
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	return BY_PATH(AT_FDCWD, path, pvfs_lchown(at.path, uid, gid),
		       libc()->lchown(path, uid, gid));
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	return BY_FD(fd, pvfs_fchown(fd, uid, gid),
		     libc()->fchown(fd, uid, gid));
}

static int chown_in_pvfs(int dir, const char *path, uid_t uid, gid_t gid,
			 int flags)
{
	if (flags & AT_EMPTY_PATH && !*path)
		return pvfs_fchown(dir, uid, gid);
	return pvfs_fchownat(dir, path, uid, gid, flags & ~AT_EMPTY_PATH);
}

int fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
	return BY_PATH(dir, path, chown_in_pvfs(dir, at.path, uid, gid, flags),
		       libc()->fchownat(dir, path, uid, gid, flags));
}

/* ---- times ---- */

/* times NULL: the current time; path NULL: the object that dir has open. */
static int utimens_in_pvfs(int dir, const char *path,
			   const struct timespec *times, int flags)
{
	if (!can_read_memory(times, 2 * sizeof(*times)))
		return -1;
	if (!path || !*path)
		return pvfs_futimens(dir, times);
	return pvfs_utimensat(dir, path, times, flags);
}

static int utimes_in_pvfs(int dir, const char *path, const struct timeval *from,
			  int flags)
{
	struct timespec to[2];
	int i;

	if (!can_read_memory(from, 2 * sizeof(*from)))
		return -1;
	for (i = 0; from && i < 2; i++) {
		if (from[i].tv_usec < 0 || from[i].tv_usec >= 1000000) {
			errno = EINVAL;
			return -1;
		}
		to[i] = (struct timespec){ from[i].tv_sec,
					   from[i].tv_usec * 1000 };
	}
	return utimens_in_pvfs(dir, path, from ? to : NULL, flags);
}

static int utime_in_pvfs(const char *path, const struct utimbuf *times)
{
	return can_read_memory(times, sizeof(*times)) ? pvfs_utime(path, times)
						      : -1;
}

int utime(const char *path, const struct utimbuf *times)
{
	return BY_PATH(AT_FDCWD, path, utime_in_pvfs(at.path, times),
		       libc()->utime(path, times));
}

int utimes(const char *path, const struct timeval times[2])
{
	return BY_PATH(AT_FDCWD, path,
		       utimes_in_pvfs(AT_FDCWD, at.path, times, 0),
		       libc()->utimes(path, times));
}

int lutimes(const char *path, const struct timeval times[2])
{
	return BY_PATH(AT_FDCWD, path,
		       utimes_in_pvfs(AT_FDCWD, at.path, times,
				      AT_SYMLINK_NOFOLLOW),
		       libc()->lutimes(path, times));
}

int futimes(int fd, const struct timeval times[2])
{
	return BY_FD(fd, utimes_in_pvfs(fd, NULL, times, 0),
		     libc()->futimes(fd, times));
}

int futimens(int fd, const struct timespec times[2])
{
	return BY_FD(fd, utimens_in_pvfs(fd, NULL, times, 0),
		     libc()->futimens(fd, times));
}

int utimensat(int dir, const char *path, const struct timespec times[2],
	      int flags)
{
	return BY_PATH(dir, path, utimens_in_pvfs(dir, at.path, times, flags),
		       libc()->utimensat(dir, path, times, flags));
}

/* Without a path: the object that dir has open. */
int futimesat(int dir, const char *path, const struct timeval times[2])
{
	if (!path && dir != AT_FDCWD)
		return futimes(dir, times);
	return BY_PATH(dir, path, utimes_in_pvfs(dir, at.path, times, 0),
		       libc()->futimesat(dir, path, times));
}

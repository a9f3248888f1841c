/* SPDX-License-Identifier: BSD-2-Clause */
/* attributes.c - reading attributes of files and file systems. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client/preload/paths/refuse.h"
#include "client/lib/names/mounted.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

TWO_NAMES(int, stat, stat64, (const char *path, struct stat *st));
TWO_NAMES(int, lstat, lstat64, (const char *path, struct stat *st));
TWO_NAMES(int, fstat, fstat64, (int fd, struct stat *st));
TWO_NAMES(int, fstatat, fstatat64,
	  (int dir, const char *path, struct stat *st, int flags));
TWO_NAMES(int, __xstat, __xstat64, (int v, const char *path, struct stat *st));
TWO_NAMES(int, __lxstat, __lxstat64,
	  (int v, const char *path, struct stat *st));
TWO_NAMES(int, __fxstat, __fxstat64, (int v, int fd, struct stat *st));
TWO_NAMES(int, __fxstatat, __fxstatat64,
	  (int v, int dir, const char *path, struct stat *st, int flags));
TWO_NAMES(int, statfs, statfs64, (const char *path, struct statfs *st));
TWO_NAMES(int, fstatfs, fstatfs64, (int fd, struct statfs *st));
TWO_NAMES(int, statvfs, statvfs64, (const char *path, struct statvfs *st));
TWO_NAMES(int, fstatvfs, fstatvfs64, (int fd, struct statvfs *st));
SEEN int statx(int dir, const char *path, int flags, unsigned int mask,
	       struct statx *stx);
SEEN int access(const char *path, int mode);
SEEN int euidaccess(const char *path, int mode);
SEEN int eaccess(const char *path, int mode);
SEEN int faccessat(int dir, const char *path, int mode, int flags);
SEEN long pathconf(const char *path, int what);
SEEN long fpathconf(int fd, int what);

/* ---- stat ---- */

/*
 * True: the kernel answered the program's own call for a file without a disk.  Signal
 * handlers do not read pvfstab.
 */
static bool is_kernels(int rc, uint32_t dev_major)
{
	return !rc && !dev_major && !whose_inside && !own_call_active() &&
	       whose_has_roots();
}

/* A file of a mount gets the st_dev that it has by its path of pvfstab. */
static int kernels_stat(int rc, int dir, const char *path, int flags,
			struct stat *st)
{
	if (is_kernels(rc, rc ? 0 : major(st->st_dev)))
		st->st_dev = mounted_find(dir, path, flags, st->st_dev,
					  st->st_ino);
	return rc;
}

/* path NULL: the object that dir has open. */
static int look_at(int dir, const char *path, struct stat *st, int flags)
{
	if (!path || (flags & AT_EMPTY_PATH && !*path))
		return pvfs_fstat(dir, st);
	return pvfs_fstatat(dir, path, st, flags & AT_SYMLINK_NOFOLLOW);
}

static int stat_at(int dir, const char *path, struct stat *st, int flags)
{
	struct stat own;
	int rc = look_at(dir, path, &own, flags);

	return rc ? rc : copy_out(st, &own, sizeof(own));
}

int stat(const char *path, struct stat *st)
{
	return ASK_PATH(true, AT_FDCWD, path, stat_at(from, at.path, st, 0),
			kernels_stat(under()->stat(path, st), AT_FDCWD, path, 0,
				     st));
}

int lstat(const char *path, struct stat *st)
{
	return ASK_PATH(false, AT_FDCWD, path,
			stat_at(from, at.path, st, AT_SYMLINK_NOFOLLOW),
			kernels_stat(under()->lstat(path, st), AT_FDCWD, path,
				     AT_SYMLINK_NOFOLLOW, st));
}

int fstat(int fd, struct stat *st)
{
	return BY_FD(fd, stat_at(fd, NULL, st, 0),
		     kernels_stat(under()->fstat(fd, st), fd, NULL, 0, st));
}

/*
 * NULL means the descriptor, like an empty path.  libc declares that path is never NULL.  gcc 12
 * with -O3 believes that even with -fno-delete-null-pointer-checks, if it knows that path is the
 * parameter.
 */
static const char *none_of(const char *path, int flags)
{
	__asm__("" : "+r"(path));
	return !path && flags & AT_EMPTY_PATH ? "" : path;
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	path = none_of(path, flags);
	return ASK_PATH(!(flags & AT_SYMLINK_NOFOLLOW), dir, path,
			stat_at(from, at.path, st, flags),
			kernels_stat(under()->fstatat(dir, path, st, flags),
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

static struct statx_timestamp time_of(const struct timespec *t)
{
	return (struct statx_timestamp){ .tv_sec = t->tv_sec,
					 .tv_nsec = (uint32_t)t->tv_nsec };
}

static void statx_of(const struct stat *st, struct statx *stx)
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
		.stx_atime = time_of(&st->st_atim),
		.stx_mtime = time_of(&st->st_mtim),
		.stx_ctime = time_of(&st->st_ctim),
		.stx_rdev_major = major(st->st_rdev),
		.stx_rdev_minor = minor(st->st_rdev),
		.stx_dev_major = major(st->st_dev),
		.stx_dev_minor = minor(st->st_dev),
	};
}

static int kernels_statx(int rc, int dir, const char *path, int flags,
			 struct statx *stx)
{
	dev_t dev;

	if (!is_kernels(rc, rc ? 0 : stx->stx_dev_major))
		return rc;
	dev = makedev(stx->stx_dev_major, stx->stx_dev_minor);
	dev = mounted_find(dir, path, flags, dev, stx->stx_ino);
	stx->stx_dev_major = major(dev);
	stx->stx_dev_minor = minor(dev);
	return rc;
}

static int statx_at(int dir, const char *path, int flags, struct statx *stx)
{
	struct statx own;
	struct stat st;
	int rc = look_at(dir, path, &st, flags);

	if (rc)
		return rc;
	statx_of(&st, &own);
	return copy_out(stx, &own, sizeof(own));
}

int statx(int dir, const char *path, int flags, unsigned int mask,
	  struct statx *stx)
{
	path = none_of(path, flags);
	return ASK_PATH(!(flags & AT_SYMLINK_NOFOLLOW), dir, path,
			statx_at(from, at.path, flags, stx),
			kernels_statx(under()->statx(dir, path, flags, mask,
						     stx),
				      dir, path, flags, stx));
}

/* ---- access ---- */

int access(const char *path, int mode)
{
	return ASK_PATH(false, AT_FDCWD, path, pvfs_access(at.path, mode),
			under()->access(path, mode));
}

int euidaccess(const char *path, int mode)
{
	return ASK_PATH(false, AT_FDCWD, path, pvfs_access(at.path, mode),
			under()->euidaccess(path, mode));
}

int eaccess(const char *path, int mode)
{
	return euidaccess(path, mode);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	return ASK_PATH(false, dir, path,
			pvfs_faccessat(from, at.path, mode, flags),
			under()->faccessat(dir, path, mode, flags));
}

/* ---- file systems ---- */

/* path NULL: the object that fd has open. */
static int statfs_of(int fd, const char *path, struct statfs *st)
{
	struct statfs own;
	int rc = path ? pvfs_statfs(path, &own) : pvfs_fstatfs(fd, &own);

	return rc ? rc : copy_out(st, &own, sizeof(own));
}

int statfs(const char *path, struct statfs *st)
{
	return BY_PATH(AT_FDCWD, path, statfs_of(-1, at.path, st),
		       under()->statfs(path, st));
}

int fstatfs(int fd, struct statfs *st)
{
	return BY_FD(fd, statfs_of(fd, NULL, st), under()->fstatfs(fd, st));
}

static int statvfs_of(int rc, const struct statfs *fs, struct statvfs *st)
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
		       statvfs_of(pvfs_statfs(at.path, &fs), &fs, st),
		       under()->statvfs(path, st));
}

int fstatvfs(int fd, struct statvfs *st)
{
	struct statfs fs;

	return BY_FD(fd, statvfs_of(pvfs_fstatfs(fd, &fs), &fs, st),
		     under()->fstatvfs(fd, st));
}

/* -1 without an error: there is no limit. */
static long conf(int what)
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
	return BY_PATH(AT_FDCWD, path, conf(what),
		       under()->pathconf(path, what));
}

long fpathconf(int fd, int what)
{
	return BY_FD(fd, conf(what), under()->fpathconf(fd, what));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc.h - the original functions that paths/ replaces.  They are those of the next library in the
 * search order, which need not be libc.  next.h has the functions that transfer data, and those
 * for descriptors, mappings, signals and _exit(2).
 */
#ifndef LIBC_H
#define LIBC_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <utime.h>

/* result, name of the field, symbol, parameters */
/* clang-format off */
#define LIBC_CALLS(X) \
	X(int, open, open64, (const char *, int, ...)) \
	X(int, openat, openat64, (int, const char *, int, ...)) \
	X(int, creat, creat64, (const char *, mode_t)) \
	X(int, stat, stat64, (const char *, struct stat *)) \
	X(int, lstat, lstat64, (const char *, struct stat *)) \
	X(int, fstatat, fstatat64, (int, const char *, struct stat *, int)) \
	X(int, fstat, fstat64, (int, struct stat *)) \
	X(int, statx, statx, (int, const char *, int, unsigned int, struct statx *)) \
	X(int, access, access, (const char *, int)) \
	X(int, euidaccess, euidaccess, (const char *, int)) \
	X(int, faccessat, faccessat, (int, const char *, int, int)) \
	X(int, chmod, chmod, (const char *, mode_t)) \
	X(int, fchmodat, fchmodat, (int, const char *, mode_t, int)) \
	X(int, fchmod, fchmod, (int, mode_t)) \
	X(int, chown, chown, (const char *, uid_t, gid_t)) \
	X(int, lchown, lchown, (const char *, uid_t, gid_t)) \
	X(int, fchownat, fchownat, (int, const char *, uid_t, gid_t, int)) \
	X(int, fchown, fchown, (int, uid_t, gid_t)) \
	X(int, utimensat, utimensat, (int, const char *, const struct timespec *, int)) \
	X(int, utime, utime, (const char *, const struct utimbuf *)) \
	X(int, utimes, utimes, (const char *, const struct timeval *)) \
	X(int, lutimes, lutimes, (const char *, const struct timeval *)) \
	X(int, futimes, futimes, (int, const struct timeval *)) \
	X(int, futimesat, futimesat, (int, const char *, const struct timeval *)) \
	X(int, futimens, futimens, (int, const struct timespec *)) \
	X(int, truncate, truncate64, (const char *, off_t)) \
	X(int, statfs, statfs64, (const char *, struct statfs *)) \
	X(int, fstatfs, fstatfs64, (int, struct statfs *)) \
	X(int, statvfs, statvfs64, (const char *, struct statvfs *)) \
	X(int, fstatvfs, fstatvfs64, (int, struct statvfs *)) \
	X(long, pathconf, pathconf, (const char *, int)) \
	X(long, fpathconf, fpathconf, (int, int)) \
	X(int, mkdir, mkdir, (const char *, mode_t)) \
	X(int, mkdirat, mkdirat, (int, const char *, mode_t)) \
	X(int, mknodat, mknodat, (int, const char *, mode_t, dev_t)) \
	X(int, rmdir, rmdir, (const char *)) \
	X(int, unlink, unlink, (const char *)) \
	X(int, unlinkat, unlinkat, (int, const char *, int)) \
	X(int, rename, rename, (const char *, const char *)) \
	X(int, renameat, renameat, (int, const char *, int, const char *)) \
	X(int, renameat2, renameat2, (int, const char *, int, const char *, unsigned int)) \
	X(int, link, link, (const char *, const char *)) \
	X(int, linkat, linkat, (int, const char *, int, const char *, int)) \
	X(int, symlink, symlink, (const char *, const char *)) \
	X(int, symlinkat, symlinkat, (const char *, int, const char *)) \
	X(ssize_t, readlink, readlink, (const char *, char *, size_t)) \
	X(ssize_t, readlinkat, readlinkat, (int, const char *, char *, size_t)) \
	X(char *, realpath, realpath, (const char *, char *)) \
	X(int, mkostemps, mkostemps64, (char *, int, int)) \
	X(char *, mkdtemp, mkdtemp, (char *)) \
	X(int, setxattr, setxattr, (const char *, const char *, const void *, size_t, int)) \
	X(int, lsetxattr, lsetxattr, (const char *, const char *, const void *, size_t, int)) \
	X(int, fsetxattr, fsetxattr, (int, const char *, const void *, size_t, int)) \
	X(ssize_t, getxattr, getxattr, (const char *, const char *, void *, size_t)) \
	X(ssize_t, lgetxattr, lgetxattr, (const char *, const char *, void *, size_t)) \
	X(ssize_t, fgetxattr, fgetxattr, (int, const char *, void *, size_t)) \
	X(ssize_t, listxattr, listxattr, (const char *, char *, size_t)) \
	X(ssize_t, llistxattr, llistxattr, (const char *, char *, size_t)) \
	X(ssize_t, flistxattr, flistxattr, (int, char *, size_t)) \
	X(int, removexattr, removexattr, (const char *, const char *)) \
	X(int, lremovexattr, lremovexattr, (const char *, const char *)) \
	X(int, fremovexattr, fremovexattr, (int, const char *)) \
	X(off_t, lseek, lseek64, (int, off_t, int)) \
	X(int, fcntl, fcntl64, (int, int, ...)) \
	X(int, ioctl, ioctl, (int, unsigned long, ...)) \
	X(int, flock, flock, (int, int)) \
	X(int, lockf, lockf64, (int, int, off_t)) \
	X(int, syncfs, syncfs, (int)) \
	X(int, sync_file_range, sync_file_range, (int, off64_t, off64_t, unsigned int)) \
	X(int, dup, dup, (int)) \
	X(int, fallocate, fallocate64, (int, int, off_t, off_t)) \
	X(int, posix_fallocate, posix_fallocate64, (int, off_t, off_t)) \
	X(int, posix_fadvise, posix_fadvise64, (int, off_t, off_t, int)) \
	X(DIR *, opendir, opendir, (const char *)) \
	X(DIR *, fdopendir, fdopendir, (int)) \
	X(struct dirent *, readdir, readdir64, (DIR *)) \
	X(int, closedir, closedir, (DIR *)) \
	X(void, rewinddir, rewinddir, (DIR *)) \
	X(void, seekdir, seekdir, (DIR *, long)) \
	X(long, telldir, telldir, (DIR *)) \
	X(int, dirfd, dirfd, (DIR *)) \
	X(ssize_t, getdents, getdents64, (int, void *, size_t)) \
	X(FILE *, fopen, fopen64, (const char *, const char *)) \
	X(FILE *, fdopen, fdopen, (int, const char *)) \
	X(FILE *, freopen, freopen64, (const char *, const char *, FILE *)) \
	X(int, execve, execve, (const char *, char *const *, char *const *)) \
	X(int, execv, execv, (const char *, char *const *)) \
	X(int, execvp, execvp, (const char *, char *const *)) \
	X(int, execvpe, execvpe, (const char *, char *const *, char *const *)) \
	X(int, fexecve, fexecve, (int, char *const *, char *const *)) \
	X(int, execveat, execveat, (int, const char *, char *const *, char *const *, int)) \
	X(int, chdir, chdir, (const char *)) \
	X(int, fchdir, fchdir, (int)) \
	X(char *, getcwd, getcwd, (char *, size_t))
/* clang-format on */

struct libc {
	bool found; /* the addresses are valid */
#define LIBC_FIELD(type, field, symbol, args) type(*field) args;
	LIBC_CALLS(LIBC_FIELD)
#undef LIBC_FIELD
};
extern struct libc libc_table;

/* May run before our constructor, from constructors of other libraries. */
void libc_find(void);

static inline const struct libc *libc(void)
{
	bool found = __atomic_load_n(&libc_table.found, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!found, 0))
		libc_find();
	return &libc_table;
}

#endif

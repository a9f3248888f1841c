/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - creating, removing and renaming. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdio.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

extern void __chk_fail(void) __attribute__((noreturn));

EXPORT int mkdir(const char *path, mode_t mode);
EXPORT int mkdirat(int dir, const char *path, mode_t mode);
EXPORT int mknod(const char *path, mode_t mode, dev_t dev);
EXPORT int mknodat(int dir, const char *path, mode_t mode, dev_t dev);
EXPORT int mkfifo(const char *path, mode_t mode);
EXPORT int mkfifoat(int dir, const char *path, mode_t mode);
EXPORT int rmdir(const char *path);
EXPORT int unlink(const char *path);
EXPORT int unlinkat(int dir, const char *path, int flags);
EXPORT int remove(const char *path);
EXPORT int rename(const char *from, const char *to);
EXPORT int renameat(int from_dir, const char *from, int to_dir, const char *to);
EXPORT int renameat2(int from_dir, const char *from, int to_dir, const char *to,
		     unsigned int flags);
EXPORT int link(const char *from, const char *to);
EXPORT int linkat(int from_dir, const char *from, int to_dir, const char *to,
		  int flags);
EXPORT int symlink(const char *target, const char *path);
EXPORT int symlinkat(const char *target, int dir, const char *path);
EXPORT ssize_t readlink(const char *path, char *buf, size_t len);
EXPORT ssize_t readlinkat(int dir, const char *path, char *buf, size_t len);
EXPORT ssize_t __readlink_chk(const char *path, char *buf, size_t len,
			      size_t room);
EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *buf,
				size_t len, size_t room);

/* ---- one path ---- */

int mkdirat(int dir, const char *path, mode_t mode)
{
	return BY_PATH(dir, path, pvfs_mkdirat(dir, at.path, mode),
		       libc()->mkdirat(dir, path, mode));
}

int mkdir(const char *path, mode_t mode)
{
	return BY_PATH(AT_FDCWD, path, pvfs_mkdir(at.path, mode),
		       libc()->mkdir(path, mode));
}

int mknodat(int dir, const char *path, mode_t mode, dev_t dev)
{
	return BY_PATH(dir, path, pvfs_mknodat(dir, at.path, mode, dev),
		       libc()->mknodat(dir, path, mode, dev));
}

int mknod(const char *path, mode_t mode, dev_t dev)
{
	return mknodat(AT_FDCWD, path, mode, dev);
}

int mkfifoat(int dir, const char *path, mode_t mode)
{
	return mknodat(dir, path, (mode & 07777) | S_IFIFO, 0);
}

int mkfifo(const char *path, mode_t mode)
{
	return mkfifoat(AT_FDCWD, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
	return BY_PATH(dir, path, pvfs_unlinkat(dir, at.path, flags),
		       libc()->unlinkat(dir, path, flags));
}

int unlink(const char *path)
{
	return BY_PATH(AT_FDCWD, path, pvfs_unlink(at.path),
		       libc()->unlink(path));
}

int rmdir(const char *path)
{
	return BY_PATH(AT_FDCWD, path, pvfs_rmdir(at.path),
		       libc()->rmdir(path));
}

int remove(const char *path)
{
	return !unlink(path) || (errno == EISDIR && !rmdir(path)) ? 0 : -1;
}

/* The kernel would read the other path first, which may be ours. */
static bool check_readable(const char *path)
{
	if (can_read_path(path))
		return true;
	errno = path && can_read_memory(path, PATH_MAX) ? ENAMETOOLONG : EFAULT;
	return false;
}

static int symlink_in_pvfs(const char *target, int dir, const char *path)
{
	return check_readable(target) ? pvfs_symlinkat(target, dir, path) : -1;
}

int symlinkat(const char *target, int dir, const char *path)
{
	return BY_PATH(dir, path, symlink_in_pvfs(target, dir, at.path),
		       libc()->symlinkat(target, dir, path));
}

int symlink(const char *target, const char *path)
{
	return BY_PATH(AT_FDCWD, path,
		       symlink_in_pvfs(target, AT_FDCWD, at.path),
		       libc()->symlink(target, path));
}

static ssize_t readlink_in_pvfs(int dir, const char *path, char *buf,
				size_t len)
{
	char target[PATH_MAX];
	ssize_t n = pvfs_readlinkat(dir, path, target,
				    len < sizeof(target) ? len
							 : sizeof(target));

	return n > 0 && copy_out(buf, target, (size_t)n) ? -1 : n;
}

ssize_t readlinkat(int dir, const char *path, char *buf, size_t len)
{
	return KERNEL_FIRST(false, dir, path,
			    readlink_in_pvfs(from, at.path, buf, len),
			    libc()->readlinkat(dir, path, buf, len));
}

ssize_t readlink(const char *path, char *buf, size_t len)
{
	return KERNEL_FIRST(false, AT_FDCWD, path,
			    readlink_in_pvfs(from, at.path, buf, len),
			    libc()->readlink(path, buf, len));
}

ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t len,
			 size_t room)
{
	if (len > room)
		__chk_fail();
	return readlinkat(dir, path, buf, len);
}

ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room)
{
	return __readlinkat_chk(AT_FDCWD, path, buf, len, room);
}

/* ---- two paths ---- */

/* ROUTE_KERNEL: both paths are the kernel's. */
static enum route route_pair(struct pvfs_path *a, int a_dir, const char *a_path,
			     struct pvfs_path *b, int b_dir, const char *b_path,
			     const char *call)
{
	enum route first, second;

	if (atomic_load(&roots_state) == ROOTS_NONE)
		return ROUTE_KERNEL;
	if (!check_readable(a_path) || !check_readable(b_path))
		return ROUTE_REFUSED;
	first = route_readable_path(a, a_dir, a_path, call);
	if (first == ROUTE_REFUSED)
		return first;
	second = route_readable_path(b, b_dir, b_path, call);
	return second == ROUTE_KERNEL ? first : second;
}

#define BY_PAIR(from_dir, from, to_dir, to, by_pvfs, by_kernel)                \
	({                                                                     \
		struct pvfs_path a, b;                                         \
		enum route route_ = route_pair(&a, from_dir, from, &b, to_dir, \
					       to, __func__);                  \
                                                                               \
		route_ == ROUTE_PVFS	 ? PVFS(by_pvfs)                       \
		: route_ == ROUTE_KERNEL ? (by_kernel)                         \
					 : -1;                                 \
	})

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
	      unsigned int flags)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_renameat2(from_dir, a.path, to_dir, b.path, flags),
		       libc()->renameat2(from_dir, from, to_dir, to, flags));
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_renameat2(from_dir, a.path, to_dir, b.path, 0),
		       libc()->renameat(from_dir, from, to_dir, to));
}

int rename(const char *from, const char *to)
{
	return BY_PAIR(AT_FDCWD, from, AT_FDCWD, to,
		       pvfs_rename(a.path, b.path), libc()->rename(from, to));
}

int linkat(int from_dir, const char *from, int to_dir, const char *to,
	   int flags)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_linkat(from_dir, a.path, to_dir, b.path, flags),
		       libc()->linkat(from_dir, from, to_dir, to, flags));
}

int link(const char *from, const char *to)
{
	return BY_PAIR(AT_FDCWD, from, AT_FDCWD, to, pvfs_link(a.path, b.path),
		       libc()->link(from, to));
}

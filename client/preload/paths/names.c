/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - creating, removing and renaming. */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdio.h>
#include <unistd.h>

#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

extern void __chk_fail(void) __attribute__((noreturn));

SEEN int mkdir(const char *path, mode_t mode);
SEEN int mkdirat(int dir, const char *path, mode_t mode);
SEEN int mknod(const char *path, mode_t mode, dev_t dev);
SEEN int mknodat(int dir, const char *path, mode_t mode, dev_t dev);
SEEN int mkfifo(const char *path, mode_t mode);
SEEN int mkfifoat(int dir, const char *path, mode_t mode);
SEEN int rmdir(const char *path);
SEEN int unlink(const char *path);
SEEN int unlinkat(int dir, const char *path, int flags);
SEEN int remove(const char *path);
SEEN int rename(const char *from, const char *to);
SEEN int renameat(int from_dir, const char *from, int to_dir, const char *to);
SEEN int renameat2(int from_dir, const char *from, int to_dir, const char *to,
		   unsigned int flags);
SEEN int link(const char *from, const char *to);
SEEN int linkat(int from_dir, const char *from, int to_dir, const char *to,
		int flags);
SEEN int symlink(const char *target, const char *path);
SEEN int symlinkat(const char *target, int dir, const char *path);
SEEN ssize_t readlink(const char *path, char *buf, size_t len);
SEEN ssize_t readlinkat(int dir, const char *path, char *buf, size_t len);
SEEN ssize_t __readlink_chk(const char *path, char *buf, size_t len,
			    size_t room);
SEEN ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t len,
			      size_t room);

/* ---- one path ---- */

int mkdirat(int dir, const char *path, mode_t mode)
{
	return BY_PATH(dir, path, pvfs_mkdirat(dir, at.path, mode),
		       under()->mkdirat(dir, path, mode));
}

int mkdir(const char *path, mode_t mode)
{
	return BY_PATH(AT_FDCWD, path, pvfs_mkdir(at.path, mode),
		       under()->mkdir(path, mode));
}

int mknodat(int dir, const char *path, mode_t mode, dev_t dev)
{
	return BY_PATH(dir, path, pvfs_mknodat(dir, at.path, mode, dev),
		       under()->mknodat(dir, path, mode, dev));
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
		       under()->unlinkat(dir, path, flags));
}

int unlink(const char *path)
{
	return BY_PATH(AT_FDCWD, path, pvfs_unlink(at.path),
		       under()->unlink(path));
}

int rmdir(const char *path)
{
	return BY_PATH(AT_FDCWD, path, pvfs_rmdir(at.path),
		       under()->rmdir(path));
}

int remove(const char *path)
{
	return !unlink(path) || (errno == EISDIR && !rmdir(path)) ? 0 : -1;
}

/* The kernel would read the other path first, which may be ours. */
static bool must_read(const char *path)
{
	if (whose_can_read(path))
		return true;
	errno = path && can_read(path, PATH_MAX) ? ENAMETOOLONG : EFAULT;
	return false;
}

static int link_to(const char *target, int dir, const char *path)
{
	return must_read(target) ? pvfs_symlinkat(target, dir, path) : -1;
}

int symlinkat(const char *target, int dir, const char *path)
{
	return BY_PATH(dir, path, link_to(target, dir, at.path),
		       under()->symlinkat(target, dir, path));
}

int symlink(const char *target, const char *path)
{
	return BY_PATH(AT_FDCWD, path, link_to(target, AT_FDCWD, at.path),
		       under()->symlink(target, path));
}

static ssize_t read_link(int dir, const char *path, char *buf, size_t len)
{
	char target[PATH_MAX];
	ssize_t n = pvfs_readlinkat(dir, path, target,
				    len < sizeof(target) ? len
							 : sizeof(target));

	return n > 0 && copy_out(buf, target, (size_t)n) ? -1 : n;
}

ssize_t readlinkat(int dir, const char *path, char *buf, size_t len)
{
	return ASK_PATH(false, dir, path, read_link(from, at.path, buf, len),
			under()->readlinkat(dir, path, buf, len));
}

ssize_t readlink(const char *path, char *buf, size_t len)
{
	return ASK_PATH(false, AT_FDCWD, path,
			read_link(from, at.path, buf, len),
			under()->readlink(path, buf, len));
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

/* KERNELS: both paths are the kernel's. */
static enum whose whose_pair(struct spot *a, int a_dir, const char *a_path,
			     struct spot *b, int b_dir, const char *b_path,
			     const char *call)
{
	enum whose first, second;

	if (atomic_load(&whose_roots) == ROOTS_NONE)
		return KERNELS;
	if (!must_read(a_path) || !must_read(b_path))
		return REFUSED;
	first = whose_read(a, a_dir, a_path, call);
	if (first == REFUSED)
		return first;
	second = whose_read(b, b_dir, b_path, call);
	return second == KERNELS ? first : second;
}

#define BY_PAIR(from_dir, from, to_dir, to, ours, kernels)                     \
	({                                                                     \
		struct spot a, b;                                              \
		enum whose whose_ = whose_pair(&a, from_dir, from, &b, to_dir, \
					       to, __func__);                  \
                                                                               \
		whose_ == OURS	    ? PVFS(ours)                               \
		: whose_ == KERNELS ? (kernels)                                \
				    : -1;                                      \
	})

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
	      unsigned int flags)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_renameat2(from_dir, a.path, to_dir, b.path, flags),
		       under()->renameat2(from_dir, from, to_dir, to, flags));
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_renameat2(from_dir, a.path, to_dir, b.path, 0),
		       under()->renameat(from_dir, from, to_dir, to));
}

int rename(const char *from, const char *to)
{
	return BY_PAIR(AT_FDCWD, from, AT_FDCWD, to,
		       pvfs_rename(a.path, b.path), under()->rename(from, to));
}

int linkat(int from_dir, const char *from, int to_dir, const char *to,
	   int flags)
{
	return BY_PAIR(from_dir, from, to_dir, to,
		       pvfs_linkat(from_dir, a.path, to_dir, b.path, flags),
		       under()->linkat(from_dir, from, to_dir, to, flags));
}

int link(const char *from, const char *to)
{
	return BY_PAIR(AT_FDCWD, from, AT_FDCWD, to, pvfs_link(a.path, b.path),
		       under()->link(from, to));
}

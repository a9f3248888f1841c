/* SPDX-License-Identifier: BSD-2-Clause */
/* mounted.c - see mounted.h. */
#include "client/lib/names/mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Makes the system call itself, because libpvfs-preload may have replaced libc's function. */
static ssize_t handle_xattr(const char *path, int flags,
			    struct mounted_handle *h)
{
	return syscall(flags & AT_SYMLINK_NOFOLLOW ? SYS_lgetxattr
						   : SYS_getxattr,
		       path, MOUNTED_XATTR, h, sizeof(*h));
}

/* fgetxattr(2) fails for O_PATH descriptors, so use their /proc link. */
static ssize_t get_open(int fd, struct mounted_handle *h)
{
	ssize_t n = syscall(SYS_fgetxattr, fd, MOUNTED_XATTR, h, sizeof(*h));
	char link[32];

	if (n >= 0 || errno != EBADF)
		return n;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return handle_xattr(link, 0, h);
}

/* getxattrat(2) exists only since Linux 6.13. */
static ssize_t get_at(int dir, const char *path, int flags,
		      struct mounted_handle *h)
{
	char buf[PATH_MAX + 32];

	if (!path || !*path)
		return dir == AT_FDCWD ? handle_xattr(".", 0, h)
				       : get_open(dir, h);
	if (dir == AT_FDCWD || *path == '/')
		return handle_xattr(path, flags, h);
	snprintf(buf, sizeof(buf), "/proc/self/fd/%d/%s", dir, path);
	return handle_xattr(buf, flags, h);
}

/*
 * A FUSE mount has no disk, so its major number is 0.  If path refers to another object since the
 * caller's stat(2), the inode number differs.
 */
dev_t mounted_find(int dir, const char *path, int flags, dev_t dev, ino_t ino)
{
	struct mounted_handle h;
	int saved = errno;

	if (major(dev))
		return dev;
	if (get_at(dir, path, flags, &h) == sizeof(h) && h.handle == ino)
		dev = mounted_dev(h.fsid);
	errno = saved;
	return dev;
}

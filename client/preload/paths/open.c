/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c - opening a file by its name. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <pvfs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/paths/streams.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

EXPORT_TWICE(int, open, open64, (const char *path, int flags, ...));
EXPORT_TWICE(int, openat, openat64,
	     (int dir, const char *path, int flags, ...));
EXPORT_TWICE(int, creat, creat64, (const char *path, mode_t mode));
EXPORT_TWICE(int, __open_2, __open64_2, (const char *path, int flags));
EXPORT_TWICE(int, __openat_2, __openat64_2,
	     (int dir, const char *path, int flags));

/* ---- by number: the kernel's file of the number is not the data ---- */

/* Like the kernel, opens the file again, with an offset of its own. */
static int reopen_pvfs_fd(int number, int flags)
{
	const int ignored = O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW;
	struct pvfs_handle handle;
	char dir[PATH_MAX];
	unsigned int i;
	int fd = -1;

	if (PVFS(pvfs_get_handle(number, &handle)))
		return -1;
	errno = EXDEV;
	for (i = 0; fd < 0 && errno == EXDEV &&
		    !PVFS(pvfs_mount_point(i, dir, sizeof(dir)));
	     i++)
		fd = PVFS(pvfs_open_handle(dir, &handle, flags & ~ignored));
	if (fd >= 0 && flags & O_TRUNC && PVFS(pvfs_ftruncate(fd, 0))) {
		PVFS(pvfs_close(fd));
		return -1;
	}
	return streams_follow(route_add_opened(fd));
}

/* ---- by name ---- */

/*
 * Programs use O_PATH for directories as starting points.  libpvfs needs read access for
 * that.
 */
static int flags_for_pvfs(int flags)
{
	return flags & O_PATH ? (flags & ~(O_PATH | O_ACCMODE)) | O_RDONLY
			      : flags;
}

/* True for FIFOs, sockets and devices, which only the kernel can open. */
static bool is_special(int dir, const char *path)
{
	struct stat st;

	return !PVFS(pvfs_fstatat(dir, path, &st, 0)) && !S_ISREG(st.st_mode) &&
	       !S_ISDIR(st.st_mode);
}

static int open_in_pvfs(int dir, const char *path, int flags, mode_t mode)
{
	int fd = PVFS(pvfs_openat(dir, path, flags_for_pvfs(flags), mode));

	if (fd < 0 && errno == ENXIO && is_special(dir, path))
		return refuse_path("open", path, ENXIO);
	return streams_follow(route_add_opened(fd));
}

/*
 * fd is the kernel's result.  If the path names a number of ours, opens that file
 * instead; the kernel's file contains nothing.
 */
static int open_alias(int fd, const char *path, int flags)
{
	int number;

	if (!roots_begun() ||
	    (fd < 0 && errno != ENOENT && !can_read_path(path)))
		return fd;
	number = route_fd_alias(path);
	if (number < 0)
		return fd;
	/* our close() would report it as a lost descriptor */
	if (fd >= 0)
		syscall(SYS_close, fd);
	return reopen_pvfs_fd(number, flags);
}

#define OPEN(dir, path, flags, mode, by_kernel)                                \
	({                                                                     \
		struct pvfs_path at;                                           \
		enum route route_ = route_path(&at, dir, path, "open");        \
                                                                               \
		route_ == ROUTE_PVFS ? open_in_pvfs(dir, at.path, flags, mode) \
		: route_ == ROUTE_KERNEL ? open_alias(by_kernel, path, flags)  \
					 : -1;                                 \
	})

/* The argument after flags, if there is one. */
#define MODE_AFTER(flags)                                                      \
	({                                                                     \
		mode_t mode_ = 0;                                              \
		va_list ap_;                                                   \
                                                                               \
		va_start(ap_, flags);                                          \
		if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))          \
			mode_ = va_arg(ap_, mode_t);                           \
		va_end(ap_);                                                   \
		mode_;                                                         \
	})

int open(const char *path, int flags, ...)
{
	mode_t mode = MODE_AFTER(flags);

	return OPEN(AT_FDCWD, path, flags, mode,
		    libc()->open(path, flags, mode));
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = MODE_AFTER(flags);

	return OPEN(dir, path, flags, mode,
		    libc()->openat(dir, path, flags, mode));
}

int creat(const char *path, mode_t mode)
{
	return OPEN(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode,
		    libc()->creat(path, mode));
}

/* The variants of checking compilers, without O_CREAT. */
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __openat_2(int dir, const char *path, int flags)
{
	return openat(dir, path, flags);
}

/* ---- temporary names ---- */

#define MAX_TRIES 100

EXPORT_TWICE(int, mkstemp, mkstemp64, (char *name));
EXPORT_TWICE(int, mkostemp, mkostemp64, (char *name, int flags));
EXPORT_TWICE(int, mkstemps, mkstemps64, (char *name, int tail));
EXPORT_TWICE(int, mkostemps, mkostemps64, (char *name, int tail, int flags));
EXPORT char *mkdtemp(char *name);

/* The place of the six letters, or NULL. */
static char *find_letters(char *name, int tail)
{
	size_t len = strlen(name);
	char *x;

	if (tail < 0 || len < 6 + (size_t)tail)
		return NULL;
	x = name + len - (size_t)tail - 6;
	return memcmp(x, "XXXXXX", 6) ? NULL : x;
}

static bool fill_letters(char *x)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789__";
	unsigned char random[6];
	int i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	for (i = 0; i < 6; i++)
		x[i] = letters[random[i] % 64];
	return true;
}

static int make_dir(const char *name, int flags)
{
	(void)flags;
	return mkdir(name, 0700);
}

static int make_file(const char *name, int flags)
{
	return open(name, O_RDWR | O_CREAT | O_EXCL | (flags & ~O_ACCMODE),
		    0600);
}

static int create_unique(char *name, int tail, int flags,
			 int (*make)(const char *name, int flags))
{
	char *x = find_letters(name, tail);
	int i, rc = -1;

	errno = EINVAL;
	if (!x)
		return -1;
	for (i = 0; i < MAX_TRIES && rc < 0; i++) {
		if (!fill_letters(x))
			break;
		rc = make(name, flags);
		if (rc < 0 && errno != EEXIST)
			break;
	}
	if (rc < 0)
		memcpy(x, "XXXXXX", 6);
	return rc;
}

int mkostemps(char *name, int tail, int flags)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, name, "mkstemp");

	if (route == ROUTE_KERNEL)
		return libc()->mkostemps(name, tail, flags);
	return route == ROUTE_PVFS ? create_unique(name, tail, flags, make_file)
				   : -1;
}

int mkstemp(char *name)
{
	return mkostemps(name, 0, 0);
}

int mkostemp(char *name, int flags)
{
	return mkostemps(name, 0, flags);
}

int mkstemps(char *name, int tail)
{
	return mkostemps(name, tail, 0);
}

char *mkdtemp(char *name)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, name, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->mkdtemp(name);
	return route == ROUTE_PVFS && !create_unique(name, 0, 0, make_dir)
		       ? name
		       : NULL;
}

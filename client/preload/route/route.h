/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * route.h - decides whether the kernel or libpvfs executes a call on a path or a descriptor.  This
 * library serves the paths below a line of pvfstab, if nothing is mounted there.  A call on such a
 * path that the library does not support is rejected, because the kernel would find another object
 * with that name.
 *
 * A call goes to libpvfs:
 * - for a path, if it is below a line of pvfstab and nothing is mounted there (roots.h), or if it
 *   is relative to such a directory;
 * - for a descriptor, if libpvfs opened it, and its number still refers to the kernel file that
 *   this library placed there, which accepts no data (file_offset.h).
 */
#ifndef ROUTE_H
#define ROUTE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "client/preload/route/pvfs_call.h"
#include "client/preload/route/roots.h"

/* ROUTE_REFUSED: errno is set, and a line was written. */
enum route { ROUTE_KERNEL, ROUTE_PVFS, ROUTE_REFUSED };

/* ---- paths ---- */

/*
 * A path for libpvfs.  If path is relative, it starts at the directory argument of the call.  path
 * NULL: the object that the descriptor has open.
 */
struct pvfs_path {
	const char *path;
	char buf[PATH_MAX];
};

/*
 * Called by route_path() only, if this library may serve a root.  Returns where the call goes, and
 * sets *s if the result is ROUTE_PVFS.  For NULL and for memory that is not readable, returns
 * ROUTE_KERNEL, so that the kernel returns EFAULT.
 */
enum route route_unchecked_path(struct pvfs_path *s, int dir, const char *path,
				const char *call);
/* route_unchecked_path() of a path whose memory is known to be readable. */
enum route route_readable_path(struct pvfs_path *s, int dir, const char *path,
			       const char *call);

static inline enum route route_path(struct pvfs_path *s, int dir,
				    const char *path, const char *call)
{
	s->path = path;
	if (roots_known_none())
		return ROUTE_KERNEL;
	return route_unchecked_path(s, dir, path, call);
}

/*
 * Evaluates by_pvfs, which uses at.path as the path, or by_kernel.  If the call is refused,
 * the result is -1.
 */
#define BY_PATH(dir, path, by_pvfs, by_kernel)                                 \
	({                                                                     \
		struct pvfs_path at;                                           \
		enum route route_ = route_path(&at, dir, path, __func__);      \
                                                                               \
		route_ == ROUTE_PVFS	 ? PVFS(by_pvfs)                       \
		: route_ == ROUTE_KERNEL ? (by_kernel)                         \
					 : -1;                                 \
	})

/*
 * route_unchecked_path() after the kernel has executed the call with the result error (0 or errno),
 * which usually shows that path is readable.  With follow, if path is another name of a descriptor
 * (/dev/stdin), sets *from to the descriptor and s->path to NULL.
 */
enum route route_path_after_kernel(struct pvfs_path *s, int *from, bool follow,
				   const char *path, const char *call,
				   int error);

/*
 * For calls that change nothing: the kernel is asked first, so that paths of the kernel
 * cost no further system call.  by_pvfs uses from and at.path (route_path_after_kernel()).
 */
#define KERNEL_FIRST(follow, dir, path, by_pvfs, by_kernel)                    \
	({                                                                     \
		int saved_ = errno, from = (dir), error_;                      \
		__typeof__(by_kernel) rc_ = (by_kernel);                       \
		enum route route_;                                             \
		struct pvfs_path at;                                           \
                                                                               \
		error_ = rc_ < 0 ? errno : 0;                                  \
		errno = saved_;                                                \
		route_ = route_path_after_kernel(&at, &from, follow, path,     \
						 __func__, error_);            \
		if (route_ == ROUTE_KERNEL && error_)                          \
			errno = error_;                                        \
		route_ == ROUTE_PVFS	 ? PVFS(by_pvfs)                       \
		: route_ == ROUTE_KERNEL ? rc_                                 \
					 : -1;                                 \
	})

/*
 * Returns true if the program's current directory is on PVFS.  Then name gets its path.  False: it
 * is the current directory that the kernel has.
 */
bool route_get_cwd(char name[PATH_MAX]);
/* Sets the current directory to name, on PVFS.  NULL: to the one that the kernel has. */
void route_set_cwd(const char *name);

/* ---- descriptors ---- */

#define ROUTE_FDS 65536u /* higher numbers belong to the kernel */
/* FD_LOST: the file is on PVFS, but the previous program did not hand it over. */
enum fd_kind { FD_UNKNOWN, FD_KERNEL, FD_PVFS, FD_LOST };
extern atomic_uchar route_fd_kinds[ROUTE_FDS]; /* an enum fd_kind */

/* Called by route_fd() for a number that may refer to a file of PVFS. */
enum route route_unknown_fd(int fd, const char *call);

static inline enum route route_fd(int fd, const char *call)
{
	if ((unsigned int)fd >= ROUTE_FDS ||
	    atomic_load_explicit(&route_fd_kinds[fd], memory_order_relaxed) ==
		    FD_KERNEL)
		return ROUTE_KERNEL;
	return route_unknown_fd(fd, call);
}

/* Evaluates by_pvfs or by_kernel.  If the call is refused, the result is -1. */
#define BY_FD(fd, by_pvfs, by_kernel) BY_FD_OF(__func__, fd, by_pvfs, by_kernel)
#define BY_FD_OF(call, fd, by_pvfs, by_kernel)                                 \
	({                                                                     \
		enum route route_ = route_fd(fd, call);                        \
                                                                               \
		route_ == ROUTE_PVFS	 ? PVFS(by_pvfs)                       \
		: route_ == ROUTE_KERNEL ? (by_kernel)                         \
					 : -1;                                 \
	})

/*
 * Called with the result of an open by libpvfs: a descriptor, or -1.  Gives the descriptor an
 * offset (file_offset.h) and records it.  Returns the result for the program: fd, or -1 with errno.
 */
int route_add_opened(int fd);
/* As route_add_opened(), for a duplicate of a descriptor. */
int route_add_duplicate(int fd);
/* Called when the number may refer to another file from now on. */
void route_forget_fd(int fd);

/* Returns the descriptor of ours that path names, or -1.  path is known to be readable. */
int route_fd_alias(const char *path);

#endif

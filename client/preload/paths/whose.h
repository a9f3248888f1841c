/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whose.h - whose a path or a descriptor is: the kernel's, or one of PVFS that the library
 * serves, since pvfstab has it and no mount is there.  A call that must not go on to the
 * kernel, where it would find something else under that name, is refused.
 *
 *	path   below a line of pvfstab, or relative to a directory that is; nothing is
 *	       mounted there
 *	fd     of libpvfs, and the kernel still has under that number what was put there,
 *	       which takes no data (offset.h)
 */
#ifndef WHOSE_H
#define WHOSE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/preload/inside.h"
#include "common/util/usermem.h"

enum whose { KERNELS, OURS, REFUSED };

/* Within a call of libpvfs; what it calls goes to the kernel. */
extern __thread volatile sig_atomic_t whose_inside
	__attribute__((tls_model("initial-exec")));

/* A call of libpvfs that may wait for others, which a handler of a signal ends. */
#define PVFS_WAITING(call)                                                     \
	({                                                                     \
		__typeof__(call) result_;                                      \
                                                                               \
		whose_inside++;                                                \
		result_ = (call);                                              \
		whose_inside--;                                                \
		result_;                                                       \
	})

/* Any other: handlers wait for its end. */
#define PVFS(call)                                                             \
	({                                                                     \
		__typeof__(call) ended_;                                       \
                                                                               \
		self_enter();                                                  \
		ended_ = PVFS_WAITING(call);                                   \
		self_leave();                                                  \
		ended_;                                                        \
	})

/* ---- paths ---- */

/* What libpvfs is to be asked with; the directory only where path is relative. */
struct spot {
	const char *path;
	char buf[PATH_MAX];
};

enum roots { ROOTS_UNKNOWN, ROOTS_NONE, ROOTS_SOME };
extern atomic_int whose_roots;
/* Does pvfstab name a directory where nothing is mounted?  Looks, if nobody did yet. */
bool whose_has_roots(void);

/* A path that cannot be read, and NULL, are the kernel's, which answers EFAULT. */
enum whose whose_look(struct spot *s, int dir, const char *path,
		      const char *call);
/* The same of a path that can be read. */
enum whose whose_read(struct spot *s, int dir, const char *path,
		      const char *call);

/* A system call: no program's path may end ours by SIGSEGV. */
static inline bool whose_can_read(const char *path)
{
	return path && usermem_text(path, PATH_MAX);
}

/* REFUSED: errno is set, and a line was written. */
static inline enum whose whose_path(struct spot *s, int dir, const char *path,
				    const char *call)
{
	s->path = path;
	if (atomic_load_explicit(&whose_roots, memory_order_relaxed) ==
	    ROOTS_NONE)
		return KERNELS;
	return whose_look(s, dir, path, call);
}

/* ours, with at.path for the path; or the kernel's; or -1. */
#define BY_PATH(dir, path, ours, kernels)                                      \
	({                                                                     \
		struct spot at;                                                \
		enum whose whose_ = whose_path(&at, dir, path, __func__);      \
                                                                               \
		whose_ == OURS	    ? PVFS(ours)                               \
		: whose_ == KERNELS ? (kernels)                                \
				    : -1;                                      \
	})

/*
 * As whose_look(), after the kernel's answer (error: 0, or errno): most answers say that it has
 * read path.  follow: of a descriptor that path is another name of, *from is that and s->path NULL.
 */
enum whose whose_asked(struct spot *s, int *from, bool follow, const char *path,
		       const char *call, int error);

/*
 * A question that changes nothing: the kernel is asked first.  So a path of its own costs no
 * further system call.  ours has from and at.path (whose_asked()).
 */
#define ASK_PATH(follow, dir, path, ours, kernels)                             \
	({                                                                     \
		int saved_ = errno, from = (dir), error_;                      \
		__typeof__(kernels) rc_ = (kernels);                           \
		enum whose whose_;                                             \
		struct spot at;                                                \
                                                                               \
		error_ = rc_ < 0 ? errno : 0;                                  \
		errno = saved_;                                                \
		whose_ = whose_asked(&at, &from, follow, path, __func__,       \
				     error_);                                  \
		if (whose_ == KERNELS && error_)                               \
			errno = error_;                                        \
		whose_ == OURS ? PVFS(ours) : whose_ == KERNELS ? rc_ : -1;    \
	})

/* What a call fills: 0, or -1 with EFAULT. */
static inline int copy_out(void *to, const void *from, size_t len)
{
	if (!usermem_put(to, from, len))
		return 0;
	errno = EFAULT;
	return -1;
}

/* What a call reads; NULL stays NULL.  False: EFAULT. */
static inline bool can_read(const void *from, size_t len)
{
	const struct iovec iov = { (void *)(uintptr_t)from, len };
	int saved = errno;
	bool yes = !from || usermem_readable(&iov, 1);

	errno = yes ? saved : EFAULT;
	return yes;
}

/* The directory that relative paths begin at, if it is ours. */
bool whose_cwd(char name[PATH_MAX]);
/* name NULL: the kernel's. */
void whose_set_cwd(const char *name);
/* The process stands in another directory of the kernel's. */
void whose_moved(void);

/* ---- descriptors ---- */

#define WHOSE_NUMBERS 65536u
enum number { UNKNOWN, ORDINARY, HELD, LOST };
extern atomic_uchar whose_number[WHOSE_NUMBERS];

enum whose whose_fd_look(int fd, const char *call);

static inline enum whose whose_fd(int fd, const char *call)
{
	if ((unsigned int)fd >= WHOSE_NUMBERS ||
	    atomic_load_explicit(&whose_number[fd], memory_order_relaxed) ==
		    ORDINARY)
		return KERNELS;
	return whose_fd_look(fd, call);
}

#define BY_FD(fd, ours, kernels) BY_FD_OF(__func__, fd, ours, kernels)
#define BY_FD_OF(call, fd, ours, kernels)                                      \
	({                                                                     \
		enum whose whose_ = whose_fd(fd, call);                        \
                                                                               \
		whose_ == OURS	    ? PVFS(ours)                               \
		: whose_ == KERNELS ? (kernels)                                \
				    : -1;                                      \
	})

/* libpvfs gave this number, or an error (-1): what the program gets. */
int whose_opened(int fd);
/* The same of a copy. */
int whose_new(int fd);
/* It may stand for something else from now on. */
void whose_closed(int fd);

/* The descriptor of ours that path, which can be read, is another name of; or -1. */
int whose_alias(const char *path);

/* False: everything is the kernel's. */
bool whose_begun(void);
/* Is this the process that the tables are of?  Not the child of a vfork(). */
bool whose_here(void);
/* PVFS_PRELOAD=off, or a set-user-ID program. */
bool whose_off(void);

#endif

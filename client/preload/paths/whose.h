/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whose.h - whether a path or a descriptor belongs to the kernel, or to PVFS.  This
 * library serves paths that pvfstab has and where nothing is mounted.  A call is rejected
 * if it must not go to the kernel, where it would find another object with that name.
 *
 * 	path   below a line of pvfstab, or relative to a directory that is; nothing is
 * 	       mounted there
 * 	fd     of libpvfs, and the kernel's file of that number is still the one that
 * 	       this library placed there, which accepts no data (offset.h)
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

#include "client/preload/own_call.h"
#include "common/util/usermem.h"

enum whose { KERNELS, OURS, REFUSED };

/* Inside a call of libpvfs: nested calls go to the kernel. */
extern __thread volatile sig_atomic_t whose_inside
	__attribute__((tls_model("initial-exec")));

/* A call of libpvfs that may wait for other clients, and that a signal handler ends. */
#define PVFS_WAITING(call)                                                     \
	({                                                                     \
		__typeof__(call) result_;                                      \
                                                                               \
		whose_inside++;                                                \
		result_ = (call);                                              \
		whose_inside--;                                                \
		result_;                                                       \
	})

/* Any other call: signal handlers wait for its end. */
#define PVFS(call)                                                             \
	({                                                                     \
		__typeof__(call) ended_;                                       \
                                                                               \
		own_call_enter();                                              \
		ended_ = PVFS_WAITING(call);                                   \
		own_call_leave();                                              \
		ended_;                                                        \
	})

/* ---- paths ---- */

/* Path for libpvfs.  The directory argument matters only if path is relative. */
struct spot {
	const char *path;
	char buf[PATH_MAX];
};

enum roots { ROOTS_UNKNOWN, ROOTS_NONE, ROOTS_SOME };
extern atomic_int whose_roots;
/* True: pvfstab has a directory where nothing is mounted.  Reads pvfstab at the first call. */
bool whose_has_roots(void);

/* Unreadable paths, and NULL, are left to the kernel, which returns EFAULT. */
enum whose whose_look(struct spot *s, int dir, const char *path,
		      const char *call);
/* The same for a path that is known to be readable. */
enum whose whose_read(struct spot *s, int dir, const char *path,
		      const char *call);

/* Uses a system call, so that an invalid path does not raise SIGSEGV here. */
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

/* Evaluates ours, with at.path for the path; or kernels; or -1. */
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
 * As whose_look(), after the kernel's answer (error: 0, or errno), which usually shows
 * that path is readable.  With follow, if path is another name of a descriptor, sets
 * *from to the descriptor and s->path to NULL.
 */
enum whose whose_asked(struct spot *s, int *from, bool follow, const char *path,
		       const char *call, int error);

/*
 * For calls that change nothing: the kernel is asked first, so that paths of the kernel
 * cost no further system call.  ours uses from and at.path (whose_asked()).
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

/* Copies a result to the program's memory.  Returns 0, or -1 with EFAULT. */
static inline int copy_out(void *to, const void *from, size_t len)
{
	if (!usermem_put(to, from, len))
		return 0;
	errno = EFAULT;
	return -1;
}

/* Checks memory that a call reads; NULL is permitted.  False: errno is EFAULT. */
static inline bool can_read(const void *from, size_t len)
{
	const struct iovec iov = { (void *)(uintptr_t)from, len };
	int saved = errno;
	bool yes = !from || usermem_readable(&iov, 1);

	errno = yes ? saved : EFAULT;
	return yes;
}

/* True: the current directory is ours; name is set to it. */
bool whose_cwd(char name[PATH_MAX]);
/* name NULL: the current directory is the kernel's. */
void whose_set_cwd(const char *name);
/* The kernel's current directory of the process has changed. */
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

/* fd is a result of libpvfs, or -1 after an error.  Returns what the program gets. */
int whose_opened(int fd);
/* The same for a duplicate. */
int whose_new(int fd);
/* The number may refer to another file from now on. */
void whose_closed(int fd);

/* Returns the descriptor of ours that path names, or -1.  path is known to be readable. */
int whose_alias(const char *path);

/* False: all calls go to the kernel. */
bool whose_begun(void);
/* True: the tables belong to this process.  False in a child of vfork(). */
bool whose_here(void);

#endif

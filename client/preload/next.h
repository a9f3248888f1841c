/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the calls without this library.  They go to the next library in the search
 * order, which need not be libc.
 */
#ifndef NEXT_H
#define NEXT_H

#include <sys/types.h>
#include <sys/uio.h>

struct aiocb;
struct sigaction;
struct sigevent;
struct timespec;

struct next {
	ssize_t (*read)(int, void *, size_t);
	ssize_t (*write)(int, const void *, size_t);
	ssize_t (*pread)(int, void *, size_t, int64_t);
	ssize_t (*pwrite)(int, const void *, size_t, int64_t);
	ssize_t (*readv)(int, const struct iovec *, int);
	ssize_t (*writev)(int, const struct iovec *, int);
	ssize_t (*preadv)(int, const struct iovec *, int, int64_t);
	ssize_t (*pwritev)(int, const struct iovec *, int, int64_t);
	ssize_t (*preadv2)(int, const struct iovec *, int, int64_t, int);
	ssize_t (*pwritev2)(int, const struct iovec *, int, int64_t, int);
	int (*fsync)(int);
	int (*fdatasync)(int);
	int (*ftruncate)(int, int64_t);
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	void (*exit)(int); /* immediately */
	int (*close)(int);
	int (*close_range)(unsigned int, unsigned int, int);
	int (*dup2)(int, int);
	int (*dup3)(int, int, int);
	void *(*mmap)(void *, size_t, int, int, int, int64_t);
	ssize_t (*sendfile)(int, int, int64_t *, size_t);
	ssize_t (*copy_file_range)(int, int64_t *, int, int64_t *, size_t,
				   unsigned int);
	ssize_t (*splice)(int, int64_t *, int, int64_t *, size_t, unsigned int);
	/* NULL before the constructor has run */
	int (*aio_read)(struct aiocb *);
	int (*aio_write)(struct aiocb *);
	int (*aio_fsync)(int, struct aiocb *);
	int (*aio_suspend)(const struct aiocb *const *, int,
			   const struct timespec *);
	int (*aio_cancel)(int, struct aiocb *);
	int (*lio_listio)(int, struct aiocb *const *, int, struct sigevent *);
};

/* System calls, until the constructor has run. */
extern struct next next;

#endif

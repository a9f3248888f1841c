/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the functions that execute a call which does not bypass a mount.  For files of the
 * kernel, these are the functions of the next library in the search order, which need not be libc.
 */
#ifndef NEXT_H
#define NEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct aiocb;
struct sigaction;
struct sigevent;
struct timespec;

/* result, name of the field, symbol, parameters; exit ends the process immediately */
/* clang-format off */
#define NEXT_CALLS(X) \
	X(ssize_t, read, read, (int, void *, size_t)) \
	X(ssize_t, write, write, (int, const void *, size_t)) \
	X(ssize_t, pread, pread64, (int, void *, size_t, int64_t)) \
	X(ssize_t, pwrite, pwrite64, (int, const void *, size_t, int64_t)) \
	X(ssize_t, readv, readv, (int, const struct iovec *, int)) \
	X(ssize_t, writev, writev, (int, const struct iovec *, int)) \
	X(ssize_t, preadv, preadv64, (int, const struct iovec *, int, int64_t)) \
	X(ssize_t, pwritev, pwritev64, (int, const struct iovec *, int, int64_t)) \
	X(ssize_t, preadv2, preadv64v2, (int, const struct iovec *, int, int64_t, int)) \
	X(ssize_t, pwritev2, pwritev64v2, (int, const struct iovec *, int, int64_t, int)) \
	X(int, fsync, fsync, (int)) \
	X(int, fdatasync, fdatasync, (int)) \
	X(int, ftruncate, ftruncate64, (int, int64_t)) \
	X(int, sigaction, sigaction, (int, const struct sigaction *, struct sigaction *)) \
	X(void, exit, _exit, (int)) \
	X(int, close, close, (int)) \
	X(int, close_range, close_range, (unsigned int, unsigned int, int)) \
	X(int, dup2, dup2, (int, int)) \
	X(int, dup3, dup3, (int, int, int)) \
	X(void *, mmap, mmap64, (void *, size_t, int, int, int, int64_t)) \
	X(ssize_t, sendfile, sendfile64, (int, int, int64_t *, size_t)) \
	X(ssize_t, copy_file_range, copy_file_range, \
	  (int, int64_t *, int, int64_t *, size_t, unsigned int)) \
	X(ssize_t, splice, splice, (int, int64_t *, int, int64_t *, size_t, unsigned int)) \
	X(int, aio_read, aio_read64, (struct aiocb *)) \
	X(int, aio_write, aio_write64, (struct aiocb *)) \
	X(int, aio_fsync, aio_fsync64, (int, struct aiocb *)) \
	X(int, aio_suspend, aio_suspend64, \
	  (const struct aiocb *const *, int, const struct timespec *)) \
	X(int, aio_cancel, aio_cancel64, (int, struct aiocb *)) \
	X(int, lio_listio, lio_listio64, (int, struct aiocb *const *, int, struct sigevent *))
/* clang-format on */

/* The fields for asynchronous I/O are NULL before next_find(). */
struct next {
#define NEXT_FIELD(type, field, symbol, args) type(*field) args;
	NEXT_CALLS(NEXT_FIELD)
#undef NEXT_FIELD
};

/*
 * next_library: the functions of the next library in the search order, normally libc.
 * next: the functions of paths/ if path interception is on, otherwise the same as next_library.
 * Before next_find(), both tables make plain system calls.
 */
extern struct next next, next_library;

/* Called once, at the start of the program.  Fills both tables from the next library. */
void next_find(void);

#endif

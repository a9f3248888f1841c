/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_io.h - a read or write through the session of this process instead of the mount.
 * The file offset stays in the kernel.  Before the transfer, this library advances it by the
 * requested bytes, so that no other call transfers the same bytes.  Afterwards it moves the
 * offset back by the bytes that were not transferred.
 */
#ifndef BYPASS_IO_H
#define BYPASS_IO_H

#include <sys/uio.h>

#include "client/preload/bypass/bypass.h"

struct bypass_io {
	struct bypass *bypass;
	struct desc_use use;
	const struct iovec *iov; /* the caller's */
	int niov;
	uint64_t n; /* total bytes of iov */
	bool write;
	int saved_errno;
	int cancel_state; /* saved state of the thread */
};

/*
 * Begins a read or write of fd.  Returns false if the call must go through the kernel.  If it
 * returns true, finish with one of the next two functions.
 */
bool bypass_io_begin(struct bypass_io *io, int fd, bool write,
		     const struct iovec *iov, int niov);
/* As bypass_io_begin().  But the array iov belongs to the program, and may be unmapped memory. */
bool bypass_io_begin_list(struct bypass_io *io, int fd, bool write,
			  const struct iovec *iov, int niov);
/* As read(2) and write(2): at the file offset, which advances. */
ssize_t bypass_io_run(struct bypass_io *io);
/* As pread(2) and pwrite(2). */
ssize_t bypass_io_run_at(struct bypass_io *io, int64_t off);

/*
 * Begins an asynchronous request, without changing the thread's errno and cancel state.  Returns
 * false if the caller must use the kernel.  After true, the caller calls bypass_io_run_async() or
 * desc_end(&io->use).
 */
bool bypass_io_begin_async(struct bypass_io *io, int fd, bool write,
			   const struct iovec *iov, int niov);
/* Runs in a coroutine (coroutine.h).  Returns bytes or -errno. */
int64_t bypass_io_run_async(struct bypass_io *io, int64_t off);

/*
 * Completes an fsync() of the program.  Call it after fsync() of the mount returned rc, with
 * its errno.  It flushes the writes that bypassed the mount, whose errors the servers report
 * only to the session of this process.  If data was lost, it tells the mount, which then
 * reports that for all its descriptors of the file.  Returns 0, or -1 with errno: the error
 * of the mount if it had one, or else that of this session.
 */
int bypass_io_sync(int fd, int rc);

#endif

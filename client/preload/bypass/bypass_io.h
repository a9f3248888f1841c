/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_io.h - a read or write through our own session instead of the mount.  The
 * kernel's file offset is the only one.  It is advanced first by the requested bytes, so
 * that no other call gets the same bytes.  Afterwards it moves back by the bytes that were
 * not transferred.
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

/* False: make the call through the kernel.  True: finish with one of the next two calls. */
bool bypass_io_begin(struct bypass_io *io, int fd, bool write,
		     const struct iovec *iov, int niov);
/* The same with a list of the program, which may be unmapped memory. */
bool bypass_io_begin_list(struct bypass_io *io, int fd, bool write,
			  const struct iovec *iov, int niov);
/* As read(2) and write(2): at the file offset, which advances. */
ssize_t bypass_io_run(struct bypass_io *io);
/* As pread(2) and pwrite(2). */
ssize_t bypass_io_run_at(struct bypass_io *io, int64_t off);

/*
 * The same for an asynchronous request: begins the call, and leaves the thread's errno and
 * cancel state alone.  False: use the kernel.  True: finish with bypass_io_run_async() or
 * desc_end(&io->use).
 */
bool bypass_io_begin_async(struct bypass_io *io, int fd, bool write,
			   const struct iovec *iov, int niov);
/* Runs in a coroutine (coroutine.h).  Returns bytes or -errno. */
int64_t bypass_io_run_async(struct bypass_io *io, int64_t off);

/*
 * Called after fsync() of the mount returned rc (with errno).  Adds the errors that the
 * servers report only to this session, for writes that bypassed the mount.  The mount
 * comes first: it reports its own errors to all its open files, and this call reports the
 * others to it.  Returns 0, or -1 with errno.
 */
int bypass_io_sync(int fd, int rc);

#endif

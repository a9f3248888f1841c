/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move.h - a read or write through our own session instead of the mount.  The kernel's
 * file offset is the only one.  It is advanced first by the requested bytes, so that no
 * other call gets the same bytes.  Afterwards it moves back by the bytes that were not
 * transferred.
 */
#ifndef MOVE_H
#define MOVE_H

#include <sys/uio.h>

#include "client/preload/desc.h"

struct move {
	struct use use;
	const struct iovec *iov;
	int niov;
	uint64_t n; /* total bytes of iov */
	bool write;
	int saved; /* saved errno */
	int cancel; /* saved cancel state of the thread */
};

/* False: make the call through the kernel.  True: finish with one of the calls below. */
bool move_begin(struct move *m, int fd, bool write, const struct iovec *iov,
		int niov);
/* The same with a list of the program, which may be unmapped memory. */
bool move_begin_list(struct move *m, int fd, bool write,
		     const struct iovec *iov, int niov);
/* As read(2) and write(2); as pread(2) and pwrite(2). */
ssize_t move_here(struct move *m);
ssize_t move_at(struct move *m, int64_t off);

/*
 * The same in two steps, for an asynchronous request.  move_take() stores in m what is
 * needed; move_alone() runs in a coroutine (coroutine.h) and returns bytes or -errno.
 */
bool move_take(struct move *m, int fd, bool write, const struct iovec *iov,
	       int niov);
int64_t move_alone(struct move *m, int64_t off);

/*
 * Called after fsync() of the mount returned rc (with errno).  Adds the errors that the
 * servers report only to this session, for writes that bypassed the mount.  The mount
 * comes first: it reports its own errors to all its open files, and this call reports the
 * others to it.
 */
int move_sync(int fd, int rc);

#endif

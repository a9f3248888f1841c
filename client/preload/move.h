/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move.h - a read or write by our own session instead of the mount's.  The kernel's
 * offset is the only one: it is moved on first, by as much as is wanted, so that
 * nobody else gets the same bytes, and back by what fell short.
 */
#ifndef MOVE_H
#define MOVE_H

#include <sys/uio.h>

#include "client/preload/desc.h"

struct move {
	struct use use;
	const struct iovec *iov;
	int niov;
	uint64_t n; /* bytes of iov */
	bool write;
	int saved; /* errno */
	int cancel; /* of the thread */
};

/* False: make the call as if we were not there.  Else one of the others ends it. */
bool move_begin(struct move *m, int fd, bool write, const struct iovec *iov,
		int niov);
/* The same with a list of the program's, which may not be there. */
bool move_begin_list(struct move *m, int fd, bool write,
		     const struct iovec *iov, int niov);
/* As read(2) and write(2), and as pread(2) and pwrite(2). */
ssize_t move_here(struct move *m);
ssize_t move_at(struct move *m, int64_t off);

/* The same in two parts, for a request that goes on by itself: what it needs stays
 * in m, and the other runs in a strand (strand.h).  Bytes, or -errno. */
bool move_take(struct move *m, int fd, bool write, const struct iovec *iov,
	       int niov);
int64_t move_alone(struct move *m, int64_t off);

/*
 * Behind fsync() of the mount, which answered rc (and errno): what the servers tell this
 * session alone of what went past it.  The mount comes first: what it meets itself it
 * tells all who have the file open through it, and what it did not it is told by us.
 */
int move_sync(int fd, int rc);

#endif

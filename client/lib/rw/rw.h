/* SPDX-License-Identifier: BSD-2-Clause */
/* rw.h - reads and writes of an open file: offset, partition, O_APPEND. */
#ifndef RW_H
#define RW_H

#include "client/lib/file/file.h"

struct rw {
	const struct iovec *iov;
	int niov;
	bool write;
	bool at; /* off counts, not the file's offset */
	int64_t off; /* bytes of the view */
	bool whole; /* ... of the file, whatever the view */
	bool placed; /* ... in spite of O_APPEND */
	/* of a write, or NULL: where it was begun, also if it failed; not set: nothing
	 * was written */
	int64_t *begun;
};

/* Bytes transferred, or -errno.  fd is only used if f is an ordinary file. */
ssize_t rw_run(struct file *f, int fd, const struct rw *rw);

/*
 * As fallocate(2), of offsets in the file whatever the view: mode is 0 or of
 * FALLOC_FL_KEEP_SIZE, with or without one of PUNCH_HOLE, ZERO_RANGE.
 */
int rw_allocate(struct file *f, int mode, int64_t off, int64_t len);

/*
 * As copy_file_range(2), of bytes of the views.  How many were copied, which may be less than
 * len in a long call; 0: in ends there; or -errno.
 */
struct rw_copy {
	struct file *in, *out; /* of PVFS */
	bool at_in, at_out; /* the offsets here count, not the files' */
	int64_t off_in, off_out;
	size_t len;
};
ssize_t rw_copy(const struct rw_copy *c);

/*
 * A counter of the file: old is what it was before value was added, or took its
 * place.  -ECONNABORTED, -ETIMEDOUT: done or not.
 */
int rw_counter(struct file *f, unsigned int number, bool set, int64_t value,
	       int64_t *old);

/* One transfer at pos of the view; total is the iovecs' sum, not 0. */
ssize_t rw_file(struct file *f, const struct rw *rw, uint64_t pos,
		uint64_t total);
/* The same on an ordinary file. */
ssize_t rw_ordinary(struct file *f, int fd, const struct rw *rw, uint64_t pos,
		    uint64_t total);

#endif

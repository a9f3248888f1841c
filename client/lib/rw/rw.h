/* SPDX-License-Identifier: BSD-2-Clause */
/* rw.h - reads and writes of an open file: offset, partition, O_APPEND. */
#ifndef RW_H
#define RW_H

#include "client/lib/file/file.h"

struct rw {
	const struct iovec *iov;
	int niov;
	bool write;
	bool at; /* use off, not the offset of the file */
	int64_t off; /* bytes of the view */
	bool whole; /* off is in bytes of the file, not of the view */
	bool placed; /* write at off even with O_APPEND */
	/* NULL, or set to the offset at which a write started, even if it then failed; not set
	 * if nothing was written */
	int64_t *begun;
};

/* Returns the bytes transferred, or -errno.  fd is used only if f is an ordinary file. */
ssize_t rw_run(struct file *f, int fd, const struct rw *rw);

/*
 * As fallocate(2), with offsets in the file, not in the view.  mode: 0 or
 * FALLOC_FL_KEEP_SIZE, optionally with PUNCH_HOLE or ZERO_RANGE.  Returns 0 or -errno.
 */
int rw_allocate(struct file *f, int mode, int64_t off, int64_t len);

/*
 * As copy_file_range(2), with bytes of the views.  Returns the bytes copied, which may be
 * less than len in a long call; 0: the end of in; or -errno.
 */
struct rw_copy {
	struct file *in, *out; /* both on PVFS */
	bool at_in, at_out; /* use the offsets here, not those of the files */
	int64_t off_in, off_out;
	size_t len;
};
ssize_t rw_copy(const struct rw_copy *c);

/*
 * Adds value to counter number of the file or (set) sets the counter to it.  Sets *old to the
 * value before.  Returns 0 or -errno.  -ECONNABORTED, -ETIMEDOUT: unknown whether the counter
 * was changed.
 */
int rw_counter(struct file *f, unsigned int number, bool set, int64_t value,
	       int64_t *old);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offset.h - the offset of an open file.  All processes that share a descriptor share its
 * offset, for example a shell and the programs that it starts one after the other.  So
 * the kernel has the offset: the number of a regular file refers to an empty, sealed file
 * that is open only for writing.  It accepts no data and returns none, but has an offset.
 */
#ifndef OFFSET_H
#define OFFSET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* fd was opened by libpvfs: gives it such an offset, at 0.  Returns 0, or -1 with errno. */
int offset_begin(int fd);

/* True: the list can be read.  False: errno is set. */
bool offset_is_list(const struct iovec *iov, int n);
/*
 * The calls that use and change the offset; also for other files of ours.  Return like
 * the calls of libc.
 */
ssize_t offset_readv(int fd, const struct iovec *iov, int n);
ssize_t offset_writev(int fd, const struct iovec *iov, int n);
off_t offset_seek(int fd, off_t off, int whence);
/* At least one of the files is ours. */
ssize_t offset_copy(int in, int64_t *in_off, int out, int64_t *out_off,
		    size_t n, unsigned int flags);

#endif

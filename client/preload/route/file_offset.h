/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_offset.h - the offset of an open file.  All processes that share a descriptor share
 * its offset, for example a shell and the programs that it starts one after the other.  So
 * the kernel has the offset: the number of a regular file refers to an empty, sealed file
 * that is open only for writing.  It accepts no data and returns none, but has an offset.
 *
 * All functions are called inside a call of ours (PVFS()).
 */
#ifndef FILE_OFFSET_H
#define FILE_OFFSET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * fd was opened by libpvfs: gives it such an offset, at 0, if it is a regular file.
 * Returns 0, or -1 with errno.
 */
int file_offset_create(int fd);

/* True: the list can be read.  False: errno is EINVAL or EFAULT. */
bool file_offset_check_list(const struct iovec *iov, int n);
/*
 * The calls that use and change the offset; also for other files of ours.  Return like
 * the calls of libc.
 */
ssize_t file_offset_readv(int fd, const struct iovec *iov, int n);
ssize_t file_offset_writev(int fd, const struct iovec *iov, int n);
off_t file_offset_seek(int fd, off_t off, int whence);
/* As copy_file_range(2).  At least one of the files is ours. */
ssize_t file_offset_copy(int in, int64_t *in_off, int out, int64_t *out_off,
			 size_t n, unsigned int flags);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_offset.h - the offset of an open file.  All processes that share a descriptor must share
 * its offset, for example a shell and the programs that it starts one after the other.  So the
 * kernel stores the offset: the descriptor of a regular file refers to an empty, sealed kernel
 * file that is open only for writing.  It accepts no data and returns none, but has an offset.
 *
 * The caller calls all these functions within PVFS().
 */
#ifndef FILE_OFFSET_H
#define FILE_OFFSET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * If fd, which libpvfs has opened, is a regular file, gives it such a kernel file, with the offset
 * 0.  Returns 0, or -1 with errno.
 */
int file_offset_create(int fd);

/* Whether the list of n elements can be read.  If not, sets errno to EINVAL or EFAULT. */
bool file_offset_check_list(const struct iovec *iov, int n);
/*
 * Calls that use and change the offset, for all files that libpvfs has open.  They return like the
 * functions of libc.
 */
ssize_t file_offset_readv(int fd, const struct iovec *iov, int n);
ssize_t file_offset_writev(int fd, const struct iovec *iov, int n);
off_t file_offset_seek(int fd, off_t off, int whence);
/* As copy_file_range(2).  At least one of the files is ours. */
ssize_t file_offset_copy(int in, int64_t *in_off, int out, int64_t *out_off,
			 size_t n, unsigned int flags);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offset.h - where an open file stands.  All who have it open by copies of a descriptor, as a shell
 * and what it starts one after the other, share that.  So the kernel has it: what is under
 * the number of a regular file is opened for writing alone, is empty and sealed, takes no
 * data and gives none, but has an offset.
 */
#ifndef OFFSET_H
#define OFFSET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* fd was opened by libpvfs: gives it such an offset, at 0.  -1 and errno. */
int offset_begin(int fd);

/* A list of pieces that can be read; or an error is set. */
bool offset_is_list(const struct iovec *iov, int n);
/* The calls that use and move it; of other files of ours as well. */
ssize_t offset_readv(int fd, const struct iovec *iov, int n);
ssize_t offset_writev(int fd, const struct iovec *iov, int n);
off_t offset_seek(int fd, off_t off, int whence);
/* One of them is ours. */
ssize_t offset_copy(int in, int64_t *in_off, int out, int64_t *out_off,
		    size_t n, unsigned int flags);

#endif

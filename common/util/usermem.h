/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usermem.h - safe access to memory that an application passed, which may be unmapped.
 *
 * The kernel returns EFAULT for such memory; our own access would raise SIGSEGV. So the kernel
 * touches the memory first. It reads from /dev/zero into it, or it populates all pages of a long
 * piece. This takes one system call and no signal handler, for any kind of mapping.
 */
#ifndef USERMEM_H
#define USERMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Opens /dev/zero, close-on-exec; the caller closes it. -errno. */
int usermem_open(void);

/*
 * Tests memory that is about to be written. One byte in each page of the n pieces may become 0.
 * Returns 0, or -EFAULT if some of the memory cannot be written. If fd < 0, it tests nothing and
 * returns 0.
 */
int usermem_touch(int fd, const struct iovec *iov, unsigned int n);
/* Sets all len bytes to zero. */
int usermem_zero(int fd, void *addr, size_t len);

/*
 * Copies n pieces to buf, one after the other, after the kernel has tested their pages. 0, or
 * -EFAULT: some memory is not mapped, and nothing was copied.
 */
int usermem_gather(void *buf, const struct iovec *piece, unsigned int n);

/*
 * Whether all of the n pieces can be read now. One system call per page, or for many consecutive
 * pages. Does not preserve errno.
 */
bool usermem_readable(const struct iovec *piece, unsigned int n);

/*
 * Whether a NUL ends the text at s within max bytes, and all of these can be read. One system call
 * per page. Preserves errno.
 */
bool usermem_text(const char *s, size_t max);
/*
 * Copies len bytes to the application's memory. 0, or -EFAULT: not all of it can be written.
 * Preserves errno.
 */
int usermem_put(void *to, const void *from, size_t len);

/*
 * Whether all of the n pieces can be read (write: and written), without changing them. Slow: some
 * system calls per page. Also true if this cannot be determined.
 */
bool usermem_there(const struct iovec *iov, unsigned int n, bool write);

#endif

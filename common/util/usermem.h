/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usermem.h - memory that an application named and that may not be there.
 *
 * The kernel answers EFAULT for it; our own code would die of SIGSEGV.  So
 * the kernel is made to touch it first, by reading from /dev/zero into it, or by
 * bringing in all pages of a long piece: one system call, without a signal handler
 * and whatever the kind of mapping.
 */
#ifndef USERMEM_H
#define USERMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Of /dev/zero, close-on-exec, the caller's to close(); -errno. */
int usermem_open(void);

/*
 * For memory that is about to be written: a byte of each page of the n pieces
 * may become 0.  0, or -EFAULT.  fd < 0: nothing is looked at.
 */
int usermem_touch(int fd, const struct iovec *iov, unsigned int n);
/* Zeros all of it. */
int usermem_zero(int fd, void *addr, size_t len);

/*
 * Copies n pieces behind each other to buf, when the kernel has tried their
 * pages.  0, or -EFAULT: some of it is not there, and nothing was copied.
 */
int usermem_gather(void *buf, const struct iovec *piece, unsigned int n);

/*
 * Whether all of the n pieces can be read, as the kernel sees it now: a system
 * call for a page, or for many that follow each other.  errno is not kept.
 */
bool usermem_readable(const struct iovec *piece, unsigned int n);

/*
 * Whether a NUL ends the text at s within max bytes, all of which can be read: a system call for
 * each page of it.  errno is kept.
 */
bool usermem_text(const char *s, size_t max);
/* Copies out.  0, or -EFAULT: not all of it can be written.  errno is kept. */
int usermem_put(void *to, const void *from, size_t len);

/*
 * Whether all of the n pieces can be read (write: and written); they stay as
 * they are.  Slow: some system calls a page.  True also if this cannot be
 * found out.
 */
bool usermem_there(const struct iovec *iov, unsigned int n, bool write);

#endif

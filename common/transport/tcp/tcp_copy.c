/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_copy.c - copies from the stage to registered memory. Pages of TP_VOLATILE memory may be
 * missing: a copy by the kernel then fails, while memcpy() would kill the process.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

static int kernel_copy(const struct iovec *dst, unsigned int n, const void *src,
		       size_t len)
{
	struct iovec from = { (void *)(uintptr_t)src, len };
	ssize_t done = process_vm_writev(getpid(), &from, 1, dst, n, 0);

	return done == (ssize_t)len ? 0 : -EFAULT;
}

bool tcp_any_volatile(struct tcp_mr *const *held, int nheld)
{
	while (nheld > 0)
		if (held[--nheld]->access & TP_VOLATILE)
			return true;
	return false;
}

int tcp_copy_in(struct tcp_mr *const *held, int nheld, const struct iovec *dst,
		unsigned int n, const void *src, size_t len)
{
	const char *from = src;
	unsigned int i;

	if (tcp_any_volatile(held, nheld))
		return kernel_copy(dst, n, src, len);
	for (i = 0; i < n; from += dst[i++].iov_len)
		memcpy(dst[i].iov_base, from, dst[i].iov_len);
	return 0;
}

int tcp_copy_out(void *dst, const struct iovec *src, unsigned int n, size_t len)
{
	struct iovec to = { dst, len };
	ssize_t done = process_vm_readv(getpid(), &to, 1, src, n, 0);

	return done == (ssize_t)len ? 0 : -EFAULT;
}

/* A sandbox may forbid process_vm_writev(). */
bool tcp_kernel_copy_works(void)
{
	char from = 1, to = 0;
	struct iovec dst = { &to, 1 };

	return !kernel_copy(&dst, 1, &from, 1);
}

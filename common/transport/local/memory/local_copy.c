/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_copy.c - copies between the ring and registered memory. Pages of TP_VOLATILE memory may be
 * missing, and unregistered memory may not be mapped: a copy by the kernel then fails, while
 * memcpy() would kill the process.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/transport/local/memory/local_mr.h"
#include "common/util/usermem.h"

static int kernel_copy(void *to, const void *from, size_t len)
{
	struct iovec dst = { to, len };
	struct iovec src = { (void *)(uintptr_t)from, len };

	return process_vm_readv(getpid(), &dst, 1, &src, 1, 0) == (ssize_t)len
		       ? 0
		       : -EFAULT;
}

int local_copy(struct local_mrs *mrs, uint32_t key, void *to, const void *from,
	       size_t len)
{
	if (local_mr_volatile(mrs, key))
		return kernel_copy(to, from, len);
	memcpy(to, from, len);
	return 0;
}

static bool any_volatile(const struct local_mrs *mrs, const struct tp_sge *sge,
			 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if ((!i || sge[i].lkey != sge[i - 1].lkey) &&
		    local_mr_volatile(mrs, sge[i].lkey))
			return true;
	return false;
}

static bool any_unregistered(const struct tp_sge *sge, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (sge[i].lkey == TP_LKEY_NONE)
			return true;
	return false;
}

int local_gather(struct local_mrs *mrs, void *to, const struct tp_sge *sge,
		 const struct iovec *iov, unsigned int n, size_t len)
{
	struct iovec dst = { to, len };
	char *at = to;
	unsigned int i;

	if (any_unregistered(sge, n))
		return usermem_gather(to, iov, n);
	if (any_volatile(mrs, sge, n))
		return process_vm_writev(getpid(), iov, n, &dst, 1, 0) ==
				       (ssize_t)len
			       ? 0
			       : -EFAULT;
	for (i = 0; i < n; at += iov[i].iov_len, i++)
		memcpy(at, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

int local_scatter(struct local_mrs *mrs, const struct tp_sge *sge,
		  const struct iovec *iov, unsigned int n, const void *from,
		  size_t len)
{
	struct iovec src = { (void *)(uintptr_t)from, len };
	const char *at = from;
	unsigned int i;

	if (any_volatile(mrs, sge, n))
		return process_vm_readv(getpid(), iov, n, &src, 1, 0) ==
				       (ssize_t)len
			       ? 0
			       : -EFAULT;
	for (i = 0; i < n; at += iov[i].iov_len, i++)
		memcpy(iov[i].iov_base, at, iov[i].iov_len);
	return 0;
}

bool local_copy_by_kernel_works(void)
{
	char from = 1, to = 0;

	return !kernel_copy(&to, &from, 1);
}

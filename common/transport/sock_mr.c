/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_mr.c - checks what may be registered. */
#include "common/transport/sock.h"

#define KNOWN_ACCESS                                                           \
	(TP_LOCAL_WRITE | TP_VOLATILE | TP_LENT | TP_OWNED | SOCK_REMOTE_ACCESS)

static int check_volatile(const struct tp_dev *dev, unsigned int access,
			  bool (*copies)(void))
{
	if (access & SOCK_REMOTE_ACCESS)
		return -EINVAL;
	if (copies())
		return 0;
	log_debug(dev->log,
		  "%s: process_vm_writev() is not permitted here: files are not "
		  "received directly into their mappings",
		  dev->ops->name);
	return -EOPNOTSUPP;
}

int sock_mr_check(const struct tp_dev *dev, const void *addr, size_t len,
		  unsigned int *access, bool (*copies)(void))
{
	if (len == 0 || (uintptr_t)addr > UINTPTR_MAX - len ||
	    *access & ~KNOWN_ACCESS)
		return -EINVAL;
	if (*access & (TP_REMOTE_WRITE | TP_REMOTE_ATOMIC))
		*access |= TP_LOCAL_WRITE;
	return *access & TP_VOLATILE ? check_volatile(dev, *access, copies) : 0;
}

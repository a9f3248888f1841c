/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expiry.h - expiring a name without dropping it.  EXPIRY_ARGS: how many arguments the
 * function of this libfuse takes; 0: libfuse does not have it.
 */
#ifndef EXPIRY_H
#define EXPIRY_H

#include "client/fuse/fsd.h"

/* True: the kernel (Linux 6.2 or later) and libfuse can do it. */
static inline bool libfuse_compat_can_expire(const struct fuse_conn_info *conn)
{
#if EXPIRY_ARGS
	return conn->capable & FUSE_CAP_EXPIRE_ONLY;
#else
	return false;
#endif
}

/* Only if it is possible.  An error means that the kernel does not keep the name. */
static inline void libfuse_compat_expire_entry(const struct fsd *d,
					       fuse_ino_t dir, const char *name,
					       size_t len)
{
#if EXPIRY_ARGS == 5
	fuse_lowlevel_notify_expire_entry(d->se, dir, name, len,
					  FUSE_LL_EXPIRE_ONLY);
#elif EXPIRY_ARGS == 4
	fuse_lowlevel_notify_expire_entry(d->se, dir, name, len);
#endif
}

#endif

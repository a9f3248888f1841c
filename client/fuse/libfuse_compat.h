/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfuse_compat.h - kernel features that libfuse of Debian 12 does not know.  Each is
 * used if the kernel offers it.
 */
#ifndef LIBFUSE_COMPAT_H
#define LIBFUSE_COMPAT_H

#include "client/fuse/call.h"

/*
 * Called after the mount, and before the first request: watches INIT and changes the
 * reply to it.  Returns 0 or -errno.
 */
int libfuse_compat_watch(struct fuse_daemon *d);

/*
 * Returns true if the WRITE that this thread serves must remove set-id bits, because the writing
 * process does not have CAP_FSETID.  (Since Linux 5.11, the kernel leaves that to the daemon.)
 */
bool libfuse_compat_write_kills_setid(void);

/*
 * Like fuse_reply_open() and fuse_reply_create().  They also allow concurrent writes to
 * one file (Linux 6.2).
 */
int libfuse_compat_reply_open(const struct call *c,
			      const struct fuse_file_info *fi);
int libfuse_compat_reply_create(const struct call *c,
				const struct fuse_entry_param *e,
				const struct fuse_file_info *fi);

/* ---- expiring a name without dropping it ---- */

/* EXPIRY_ARGS: parameters of fuse_lowlevel_notify_expire_entry() in this libfuse; 0: missing. */

/* Returns true if the kernel (Linux 6.2 or later) and libfuse can do it. */
static inline bool libfuse_compat_can_expire(const struct fuse_conn_info *conn)
{
#if EXPIRY_ARGS
	return conn->capable & FUSE_CAP_EXPIRE_ONLY;
#else
	return false;
#endif
}

/*
 * Expires the name in the kernel if libfuse_compat_can_expire().  An error only means that the
 * kernel does not keep the name.
 */
static inline void libfuse_compat_expire_entry(const struct fuse_daemon *d,
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

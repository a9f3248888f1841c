/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfuse_compat.h - kernel features that libfuse of Debian 12 does not know.  Each is used if
 * the kernel offers it.
 */
#ifndef LIBFUSE_COMPAT_H
#define LIBFUSE_COMPAT_H

#include "client/fuse/call.h"

/* Called after the mount: watches INIT and changes the reply to it.  0 or -errno. */
int libfuse_compat_watch(struct fsd *d);

/*
 * True: this thread's current write must remove set-id bits, because its process lacks
 * CAP_FSETID.  The kernel leaves that to us (Linux 5.11).
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

#endif

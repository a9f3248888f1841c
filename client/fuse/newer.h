/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * newer.h - what kernels offer that Debian 12's libfuse does not know of.  Each is
 * asked for where it is there, and done without where it is not.
 */
#ifndef NEWER_H
#define NEWER_H

#include "client/fuse/call.h"

/* After the mount: looks at INIT, and at the answer to it.  -errno. */
int newer_watch(struct fsd *d);

/* The write that this thread carries out takes set-id bits away: its process has no
 * CAP_FSETID.  The kernel leaves that to us (Linux 5.11). */
bool newer_kills(void);

/* fuse_reply_open() and fuse_reply_create(), and writes of one file may go side by
 * side (Linux 6.2). */
int newer_reply_open(const struct call *c, const struct fuse_file_info *fi);
int newer_reply_create(const struct call *c, const struct fuse_entry_param *e,
		       const struct fuse_file_info *fi);

#endif

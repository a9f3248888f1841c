/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.h - extended attributes, one request each; errors as of mgr.h. */
#ifndef CLIENT_XATTR_H
#define CLIENT_XATTR_H

#include "client/lib/names/mgr.h"

/* What comes back: at most cap bytes to buf; *n: how many there are, which may be
 * more (then buf holds nothing of use). */
struct xattr_buf {
	void *buf;
	size_t cap, n;
};

/* flags: XATTR_CREATE, XATTR_REPLACE.  -ENOSPC: too long, or too many. */
int mgr_setxattr(struct session *s, const struct target *t, const char *name,
		 const void *value, size_t len, int flags);
/* -ENODATA. */
int mgr_getxattr(struct session *s, const struct target *t, const char *name,
		 struct xattr_buf *out);
int mgr_removexattr(struct session *s, const struct target *t,
		    const char *name);
/* Names, a NUL behind each. */
int mgr_listxattr(struct session *s, const struct target *t,
		  struct xattr_buf *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.h - extended attributes, one request each; errors as in mgr.h. */
#ifndef CLIENT_XATTR_H
#define CLIENT_XATTR_H

#include "client/lib/names/mgr.h"

/*
 * A result: at most cap bytes in buf.  *n: the full size, which may be larger; buf is
 * then undefined.
 */
struct xattr_buf {
	void *buf;
	size_t cap, n;
};

/* flags: XATTR_CREATE, XATTR_REPLACE.  -ENOSPC: value too long, or too many attributes. */
int mgr_setxattr(struct session *s, const struct target *t, const char *name,
		 const void *value, size_t len, int flags);
/* -ENODATA: there is no such attribute. */
int mgr_getxattr(struct session *s, const struct target *t, const char *name,
		 struct xattr_buf *out);
int mgr_removexattr(struct session *s, const struct target *t,
		    const char *name);
/* Gets the names, each followed by a NUL. */
int mgr_listxattr(struct session *s, const struct target *t,
		  struct xattr_buf *out);

#endif

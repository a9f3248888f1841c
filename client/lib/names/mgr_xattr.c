/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_xattr.c - SETXATTR, GETXATTR, LISTXATTR and REMOVEXATTR. */
#include <errno.h>
#include <sys/xattr.h>

#include "client/lib/names/mgr_int.h"
#include "client/lib/names/xattr.h"

int mgr_setxattr(struct session *s, const struct target *t, const char *name,
		 const void *value, size_t len, int flags)
{
	struct wire_setxattr body = {
		.dir = htole64(t->handle),
		.flags = htole32((flags & XATTR_CREATE ? WIRE_X_CREATE : 0) |
				 (flags & XATTR_REPLACE ? WIRE_X_REPLACE : 0)),
		.path_len = htole32((uint32_t)strlen(t->path)),
		.name_len = htole32((uint32_t)strlen(name)),
		.value_len = htole32((uint32_t)len),
	};
	struct ask c;

	if (len > WIRE_XATTR_MAX)
		return -ENOSPC;
	if (flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	mgr_begin(&c, s, t, &body, sizeof(body));
	ask_put(&c, name, strlen(name));
	ask_put(&c, value, len);
	c.once = true;
	return ask_run(&c, WIRE_SETXATTR, NULL, NULL);
}

static int take_bytes(void *arg, const struct wire_msg *reply)
{
	struct xattr_buf *out = arg;

	out->n = reply->tail[0].len;
	if (out->n <= out->cap)
		memcpy(out->buf, reply->tail[0].ptr, out->n);
	return 0;
}

static void begin_named(struct ask *c, struct session *s,
			const struct target *t, const char *name)
{
	struct wire_getxattr body = {
		.dir = htole64(t->handle),
		.path_len = htole32((uint32_t)strlen(t->path)),
		.name_len = htole32((uint32_t)strlen(name)),
	};

	mgr_begin(c, s, t, &body, sizeof(body));
	ask_put(c, name, strlen(name));
}

int mgr_getxattr(struct session *s, const struct target *t, const char *name,
		 struct xattr_buf *out)
{
	struct ask c;

	begin_named(&c, s, t, name);
	return ask_run(&c, WIRE_GETXATTR, take_bytes, out);
}

int mgr_removexattr(struct session *s, const struct target *t, const char *name)
{
	struct ask c;

	begin_named(&c, s, t, name);
	c.once = true;
	return ask_run(&c, WIRE_REMOVEXATTR, NULL, NULL);
}

int mgr_listxattr(struct session *s, const struct target *t,
		  struct xattr_buf *out)
{
	struct ask c;

	mgr_begin_path(&c, s, t);
	return ask_run(&c, WIRE_LISTXATTR, take_bytes, out);
}

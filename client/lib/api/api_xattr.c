/* SPDX-License-Identifier: BSD-2-Clause */
/* api_xattr.c - extended attributes: by path, of the link itself, and by descriptor. */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "client/lib/api/api_int.h"
#include "client/lib/names/mgr_requests.h"

#define SIZE_MAX_OF_ALL 65536u /* limit of Linux */

/* One call, for any way to name the object. */
struct xattr_call {
	const char *name;
	const void *value; /* value to set */
	size_t len;
	int flags;
	struct xattr_buf out; /* value or list returned */
	char bytes[WIRE_XATTR_LIST_MAX];
};
_Static_assert(WIRE_XATTR_LIST_MAX >= WIRE_XATTR_MAX, "values fit");

/* The checks that the kernel does before it looks up the object. */
static int xattr_check(const struct xattr_call *c)
{
	size_t len = c->name ? strlen(c->name) : 1;

	if (c->flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	if (!len || len > WIRE_NAME_MAX)
		return -ERANGE;
	return c->len > SIZE_MAX_OF_ALL ? -E2BIG : 0;
}

static int do_set(struct session *s, const struct target *t, void *arg)
{
	const struct xattr_call *c = arg;

	return mgr_setxattr(s, t, c->name, c->value, c->len, c->flags);
}

static int do_get(struct session *s, const struct target *t, void *arg)
{
	struct xattr_call *c = arg;

	return mgr_getxattr(s, t, c->name, &c->out);
}

static int do_list(struct session *s, const struct target *t, void *arg)
{
	struct xattr_call *c = arg;

	return mgr_listxattr(s, t, &c->out);
}

static int do_remove(struct session *s, const struct target *t, void *arg)
{
	const struct xattr_call *c = arg;

	return mgr_removexattr(s, t, c->name);
}

/*
 * lgetxattr() and related calls.  An xattr request by path always follows a symlink in the last
 * component.  So these calls look up the link itself first, and then send the request by handle.
 */
struct by_handle {
	target_op op;
	struct xattr_call *call;
};

static int run_itself(struct session *s, const struct target *t, void *arg)
{
	const struct by_handle *b = arg;
	struct target self = { .path = "", .as = t->as };
	struct attr attr;
	int rc = mgr_getattr(s, t, &attr);

	if (rc)
		return rc;
	self.handle = attr.handle;
	return b->op(s, &self, b->call);
}

static int run_path(struct where *w, const char *path, target_op op,
		    struct xattr_call *c)
{
	int rc = xattr_check(c);

	return rc ? rc : where_run(w, path, 0, op, c);
}

static int run_link(struct where *w, const char *path, target_op op,
		    struct xattr_call *c)
{
	struct by_handle b = { op, c };
	int rc = xattr_check(c);

	return rc ? rc : where_run(w, path, WIRE_P_NOFOLLOW, run_itself, &b);
}

/* -ENODEV: fd is not on PVFS. */
static int run_fd(int fd, target_op op, struct xattr_call *c)
{
	struct file *f = process_file(fd);
	int rc = -ENODEV;

	if (f && f->fs)
		rc = xattr_check(c);
	if (!rc)
		rc = api_run(PROFILE_META, f, op, c);
	if (f)
		file_put(f);
	return rc;
}

static void to_set(struct xattr_call *c, const char *name, const void *value,
		   size_t len, int flags)
{
	c->name = name;
	c->value = len ? value : "";
	c->len = len;
	c->flags = flags;
}

static void to_get(struct xattr_call *c, const char *name)
{
	c->name = name;
	c->len = 0;
	c->flags = 0;
	c->out = (struct xattr_buf){ c->bytes, sizeof(c->bytes), 0 };
}

/* Copies the result to the caller.  With len 0, returns the required size only. */
static ssize_t xattr_result(const struct xattr_call *c, int rc, void *buf,
			    size_t len)
{
	if (rc)
		return api_ret(rc);
	if (!len)
		return (ssize_t)c->out.n;
	if (c->out.n > len)
		return api_ret(-ERANGE);
	memcpy(buf, c->bytes, c->out.n);
	return (ssize_t)c->out.n;
}

int pvfs_setxattr(const char *path, const char *name, const void *value,
		  size_t len, int flags)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_set(&c, name, value, len, flags);
	rc = run_path(&w, path, do_set, &c);
	return rc == WHERE_ORDINARY ? setxattr(w.path, name, value, len, flags)
				    : api_int(rc);
}

int pvfs_lsetxattr(const char *path, const char *name, const void *value,
		   size_t len, int flags)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_set(&c, name, value, len, flags);
	rc = run_link(&w, path, do_set, &c);
	return rc == WHERE_ORDINARY ? lsetxattr(w.path, name, value, len, flags)
				    : api_int(rc);
}

int pvfs_fsetxattr(int fd, const char *name, const void *value, size_t len,
		   int flags)
{
	struct xattr_call c;
	int rc;

	to_set(&c, name, value, len, flags);
	rc = run_fd(fd, do_set, &c);
	return rc == -ENODEV ? fsetxattr(fd, name, value, len, flags)
			     : api_int(rc);
}

ssize_t pvfs_getxattr(const char *path, const char *name, void *value,
		      size_t len)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, name);
	rc = run_path(&w, path, do_get, &c);
	return rc == WHERE_ORDINARY ? getxattr(w.path, name, value, len)
				    : xattr_result(&c, rc, value, len);
}

ssize_t pvfs_lgetxattr(const char *path, const char *name, void *value,
		       size_t len)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, name);
	rc = run_link(&w, path, do_get, &c);
	return rc == WHERE_ORDINARY ? lgetxattr(w.path, name, value, len)
				    : xattr_result(&c, rc, value, len);
}

ssize_t pvfs_fgetxattr(int fd, const char *name, void *value, size_t len)
{
	struct xattr_call c;
	int rc;

	to_get(&c, name);
	rc = run_fd(fd, do_get, &c);
	return rc == -ENODEV ? fgetxattr(fd, name, value, len)
			     : xattr_result(&c, rc, value, len);
}

ssize_t pvfs_listxattr(const char *path, char *names, size_t len)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, NULL);
	rc = run_path(&w, path, do_list, &c);
	return rc == WHERE_ORDINARY ? listxattr(w.path, names, len)
				    : xattr_result(&c, rc, names, len);
}

ssize_t pvfs_llistxattr(const char *path, char *names, size_t len)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, NULL);
	rc = run_link(&w, path, do_list, &c);
	return rc == WHERE_ORDINARY ? llistxattr(w.path, names, len)
				    : xattr_result(&c, rc, names, len);
}

ssize_t pvfs_flistxattr(int fd, char *names, size_t len)
{
	struct xattr_call c;
	int rc;

	to_get(&c, NULL);
	rc = run_fd(fd, do_list, &c);
	return rc == -ENODEV ? flistxattr(fd, names, len)
			     : xattr_result(&c, rc, names, len);
}

int pvfs_removexattr(const char *path, const char *name)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, name);
	rc = run_path(&w, path, do_remove, &c);
	return rc == WHERE_ORDINARY ? removexattr(w.path, name) : api_int(rc);
}

int pvfs_lremovexattr(const char *path, const char *name)
{
	struct xattr_call c;
	struct where w;
	int rc;

	to_get(&c, name);
	rc = run_link(&w, path, do_remove, &c);
	return rc == WHERE_ORDINARY ? lremovexattr(w.path, name) : api_int(rc);
}

int pvfs_fremovexattr(int fd, const char *name)
{
	struct xattr_call c;
	int rc;

	to_get(&c, name);
	rc = run_fd(fd, do_remove, &c);
	return rc == -ENODEV ? fremovexattr(fd, name) : api_int(rc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.c - extended attributes. */
#include "client/lib/names/mgr_requests.h"

#include <errno.h>
#include <string.h>

#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/call.h"
#include "client/fuse/ops.h"
#include "client/lib/names/mounted.h"
#include "common/util/watched_descriptor.h"

struct xattr_arg {
	const char *name;
	const void *value;
	size_t len;
	int flags;
	struct xattr_buf out;
};

static int do_set(struct session *s, const struct target *t, void *arg)
{
	const struct xattr_arg *a = arg;

	return mgr_setxattr(s, t, a->name, a->value, a->len, a->flags);
}

static bool is_acl(const char *name)
{
	return !strcmp(name, "system.posix_acl_access") ||
	       !strcmp(name, "system.posix_acl_default");
}

/* Whether every user may see if such an attribute exists, so that the cache may answer. */
static bool is_security(const char *name)
{
	return !strncmp(name, "security.", strlen("security."));
}

/* An access control list also sets mode bits, which the kernel may keep. */
static int record_change(const struct call *c, fuse_ino_t ino, const char *name,
			 int rc)
{
	uint64_t n = fuse_daemon_swap_ino(c->d, ino);

	inode_cache_xattr_changed(c->d->inode_cache, n);
	if (rc || c->d->attr_timeout <= 0 ||
	    strcmp(name, "system.posix_acl_access"))
		return rc;
	watched_descriptor_hand_over(); /* the kernel may wait for its pages */
	fuse_lowlevel_notify_inval_inode(c->d->se, ino, -1, 0);
	return 0;
}

void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
		 const char *value, size_t len, int flags)
{
	struct xattr_arg a = {
		.name = name, .value = value, .len = len, .flags = flags
	};
	struct target t;
	struct call c;

	call_begin(&c, req);
	t = call_target(&c, ino);
	call_end(&c,
		 record_change(&c, ino, name, call_run(&c, &t, do_set, &a)));
}

/*
 * -ENODATA: the cached attributes say that the extended attribute does not exist, so no
 * request is needed.
 */
static int is_known_absent(const struct fuse_daemon *d, uint64_t n,
			   const char *name)
{
	if (is_acl(name) && inode_cache_lacks(d->inode_cache, n, WIRE_A_NOACL))
		return -ENODATA;
	if (is_security(name) &&
	    inode_cache_lacks(d->inode_cache, n, WIRE_A_NOXATTR))
		return -ENODATA;
	return 0;
}

/*
 * Whether the object, which was removed, did not have the attribute. name NULL: it had no
 * attributes.
 */
static bool removed_lacks(const struct call *c, uint64_t n, const char *name)
{
	uint32_t what = name && is_acl(name) ? WIRE_A_NOACL : 0;
	struct stat st;

	return call_is_removed(c, n, &st) &&
	       inode_cache_removed_lacks(c->d->inode_cache, n,
					 what | WIRE_A_NOXATTR);
}

static int do_get(struct session *s, const struct target *t, void *arg)
{
	struct xattr_arg *a = arg;

	return mgr_getxattr(s, t, a->name, &a->out);
}

static int do_list(struct session *s, const struct target *t, void *arg)
{
	struct xattr_arg *a = arg;

	return mgr_listxattr(s, t, &a->out);
}

/* size 0: returns only the length. */
static void end_bytes(const struct call *c, const struct xattr_buf *out,
		      size_t size)
{
	if (!size)
		fuse_reply_xattr(c->req, out->n);
	else if (out->n > size)
		call_end(c, -ERANGE);
	else
		fuse_reply_buf(c->req, out->buf, out->n);
}

/* Identifies the file, whatever number the kernel gave to the mount. */
static int get_handle(const struct call *c, const struct target *t,
		      struct xattr_buf *out)
{
	struct mounted_handle h = { c->d->fs.fsid, t->handle };

	memcpy(out->buf, &h, sizeof(h));
	out->n = sizeof(h);
	return 0;
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char value[WIRE_XATTR_MAX];
	struct xattr_arg a = { .name = name,
			       .out = { value, sizeof(value), 0 } };
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, ino);
	rc = is_known_absent(c.d, t.handle, name);
	if (!strcmp(name, MOUNTED_XATTR))
		rc = get_handle(&c, &t, &a.out);
	else if (!rc)
		rc = call_run(&c, &t, do_get, &a);
	if (rc == -ESTALE && removed_lacks(&c, t.handle, name))
		rc = -ENODATA;
	if (rc)
		call_end(&c, rc);
	else
		end_bytes(&c, &a.out, size);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	char names[WIRE_XATTR_LIST_MAX];
	struct xattr_arg a = { .out = { names, sizeof(names), 0 } };
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, ino);
	rc = inode_cache_lacks(c.d->inode_cache, t.handle, WIRE_A_NOXATTR)
		     ? 0
		     : call_run(&c, &t, do_list, &a);
	if (rc == -ESTALE && removed_lacks(&c, t.handle, NULL))
		rc = 0;
	if (rc)
		call_end(&c, rc);
	else
		end_bytes(&c, &a.out, size);
}

static int do_remove(struct session *s, const struct target *t, void *arg)
{
	const struct xattr_arg *a = arg;

	return mgr_removexattr(s, t, a->name);
}

/*
 * Whether the kernel itself makes the request, not a program.  Before a chown or truncate(2),
 * and before it checks permissions, the kernel removes capabilities as the calling user, who
 * may not be permitted to.  We ignore this: the manager removes them with the change.
 */
static bool is_kernel_cleanup(const struct call *c, const char *name)
{
	return call_kills_setid(c) && !strcmp(name, "security.capability");
}

void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct xattr_arg a = { .name = name };
	struct target t;
	struct call c;

	call_begin(&c, req);
	t = call_target(&c, ino);
	if (is_kernel_cleanup(&c, name))
		call_end(&c, 0);
	else
		call_end(&c, record_change(&c, ino, name,
					   call_run(&c, &t, do_remove, &a)));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.c - extended attributes: the permissions of xattr(7), and their maximal number. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mgr/ns/acl.h"
#include "mgr/ns/ns_int.h"
#include "common/wire/wire.h"
#include "mgr/db/inode.h"

_Static_assert(XATTR_NAME_BYTES == WIRE_NAME_MAX, "names");
_Static_assert(XATTR_VALUE_BYTES == WIRE_XATTR_MAX, "values");

enum space {
	SPACE_USER,
	SPACE_TRUSTED,
	SPACE_SECURITY,
	SPACE_SYSTEM,
	SPACE_NONE
};

static const char *const prefix[] = { "user.", "trusted.", "security.",
				      "system." };

static enum space space_of(const char *name, size_t len)
{
	enum space s;

	for (s = SPACE_USER; s < SPACE_NONE; s++)
		if (len >= strlen(prefix[s]) &&
		    !memcmp(name, prefix[s], strlen(prefix[s])))
			break;
	return s;
}

/* Sticky directories are shared by many users: only the owner may set attributes. */
static int may_user(const struct ns_op *op, const struct inode *ino, bool write)
{
	if (!S_ISREG(ino->mode) && !inode_is_dir(ino))
		return write ? -EPERM : -ENODATA;
	if (write && inode_is_dir(ino) && ino->mode & S_ISVTX &&
	    !ns_is_owner(op->cred, ino))
		return -EPERM;
	return ns_may(op, ino, write ? W_OK : R_OK);
}

static int may_space(const struct ns_op *op, const struct inode *ino,
		     enum space space, bool write)
{
	const struct ns_cred *cred = op->cred;

	switch (space) {
	case SPACE_USER:
		return may_user(op, ino, write);
	case SPACE_TRUSTED:
		return cred->uid == 0 ? 0 : write ? -EPERM : -ENODATA;
	case SPACE_SECURITY:
		return write && cred->uid != 0 ? -EPERM : 0;
	case SPACE_SYSTEM:
		return 0;
	case SPACE_NONE:
		break;
	}
	return ns_may(op, ino, write ? W_OK : R_OK);
}

static bool is_acl(const struct ns_xattr *x)
{
	return acl_kind_of(x->name, x->nlen) != ACL_OF_NONE;
}

static int may_access(const struct ns_op *op, const struct inode *ino,
		      const struct ns_xattr *x, bool write)
{
	enum space space = space_of(x->name, x->nlen);
	int rc = may_space(op, ino, space, write);

	if (rc)
		return rc;
	if (space == SPACE_SYSTEM && is_acl(x) && !S_ISLNK(ino->mode))
		return 0;
	if (space >= SPACE_SYSTEM)
		return -EOPNOTSUPP;
	return x->nlen > strlen(prefix[space]) ? 0 : -EINVAL;
}

static int count_one(void *arg, const char *name, size_t nlen)
{
	unsigned int *n = arg;

	return ++*n < WIRE_XATTRS_MAX ? 0 : -ENOSPC;
}

/* 0: one more attribute is allowed. */
static int check_count(struct store *st, const struct inode *ino)
{
	unsigned int n = 0;

	return xattr_walk(st, ino->handle, count_one, &n);
}

static int check_there(struct store *st, const struct inode *ino,
		       const struct ns_xattr *x)
{
	char old[WIRE_XATTR_MAX];
	size_t len;
	int rc = xattr_get(st, ino->handle, x->name, x->nlen, old, &len);

	if (!rc)
		return x->flags & WIRE_X_CREATE ? -EEXIST : 0;
	if (rc != -ENODATA || x->flags & WIRE_X_REPLACE)
		return rc;
	return check_count(st, ino);
}

static int note_change(struct ns_op *op, struct inode *ino)
{
	ino->flags |= INODE_XATTR;
	ino->ctime = op->now;
	return inode_put(op->ns->st, ino);
}

/* len 0: removes the list.  As elsewhere, x->flags have no effect on lists. */
static int set_acl(struct ns_op *op, const struct ns_xattr *x,
		   struct inode *ino, size_t len)
{
	enum acl_kind kind = acl_kind_of(x->name, x->nlen);
	bool changed = false;
	int rc = 0;

	if (len && !acl_exists(ino, kind))
		rc = check_count(op->ns->st, ino);
	if (!rc)
		rc = acl_set(op, ino, kind, x->value, len, &changed);
	return changed ? note_change(op, ino) : rc;
}

static int set_value(struct ns_op *op, const struct ns_xattr *x,
		     struct inode *ino)
{
	struct store *st = op->ns->st;
	int rc = check_there(st, ino, x);

	if (!rc)
		rc = xattr_put(st, ino->handle, x->name, x->nlen, x->value,
			       x->len);
	return rc ? rc : note_change(op, ino);
}

int ns_setxattr(struct ns_op *op, const struct ns_xattr *x)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, &x->path, NS_FOLLOW, &place);
	if (!rc)
		rc = may_access(op, &place.ino, x, true);
	if (rc)
		return rc;
	return is_acl(x) ? set_acl(op, x, &place.ino, x->len)
			 : set_value(op, x, &place.ino);
}

int ns_getxattr(struct ns_op *op, const struct ns_xattr *x, void *value,
		size_t *len)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, &x->path, NS_FOLLOW, &place);
	if (!rc)
		rc = may_access(op, &place.ino, x, false);
	return rc ? rc
		  : xattr_get(op->ns->st, place.ino.handle, x->name, x->nlen,
			      value, len);
}

int ns_removexattr(struct ns_op *op, const struct ns_xattr *x)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, &x->path, NS_FOLLOW, &place);
	if (!rc)
		rc = may_access(op, &place.ino, x, true);
	if (!rc && is_acl(x))
		return set_acl(op, x, &place.ino, 0);
	if (!rc)
		rc = xattr_del(op->ns->st, place.ino.handle, x->name, x->nlen);
	return rc ? rc : note_change(op, &place.ino);
}

struct xattr_names {
	const struct ns_cred *cred;
	char *buf;
	size_t len;
};

static int list_one(void *arg, const char *name, size_t nlen)
{
	struct xattr_names *n = arg;

	if (n->cred->uid != 0 && space_of(name, nlen) == SPACE_TRUSTED)
		return 0;
	if (n->len + nlen + 1 > WIRE_XATTR_LIST_MAX)
		return -E2BIG;
	memcpy(n->buf + n->len, name, nlen);
	n->buf[n->len + nlen] = '\0';
	n->len += nlen + 1;
	return 0;
}

int ns_listxattr(struct ns_op *op, const struct ns_path *path, char *buf,
		 size_t *len)
{
	struct xattr_names n = { op->cred, buf, 0 };
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, NS_FOLLOW, &place);
	if (!rc)
		rc = xattr_walk(op->ns->st, place.ino.handle, list_one, &n);
	if (!rc)
		*len = n.len;
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* setattr.c - SETATTR: chmod, chown, utimens. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/acl_row.h"
#include "mgr/ns/ns_int.h"

#define TIMES                                                                  \
	(WIRE_S_ATIME | WIRE_S_MTIME | WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW)
#define TOUCH (WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW)

static int check(const struct ns_setattr_args *a)
{
	const uint32_t ids = WIRE_S_MODE | WIRE_S_UID | WIRE_S_GID;

	if (a->valid & ~(ids | TIMES | WIRE_S_KILL))
		return -EINVAL;
	if (a->valid & WIRE_S_ATIME && a->valid & WIRE_S_ATIME_NOW)
		return -EINVAL;
	if (a->valid & WIRE_S_MTIME && a->valid & WIRE_S_MTIME_NOW)
		return -EINVAL;
	return 0;
}

/* An id of all ones means "unchanged", as in chown(2). */
static bool has_uid(const struct ns_setattr_args *a)
{
	return a->valid & WIRE_S_UID && a->uid != UINT32_MAX;
}

static bool has_gid(const struct ns_setattr_args *a)
{
	return a->valid & WIRE_S_GID && a->gid != UINT32_MAX;
}

/* Even a chown without a new owner clears set-id bits: whether there are any to clear. */
static bool takes_rights(const struct ns_cred *cred, const struct inode *ino,
			 const struct ns_setattr_args *a)
{
	struct inode left = *ino;

	if (!(a->valid & (WIRE_S_UID | WIRE_S_GID)) || S_ISDIR(ino->mode))
		return false;
	ns_lose_suid(cred, &left);
	return left.mode != ino->mode;
}

static int may_chown(const struct ns_cred *cred, const struct inode *ino,
		     const struct ns_setattr_args *a)
{
	if (cred->uid == 0)
		return 0;
	if (has_uid(a) && (cred->uid != ino->uid || a->uid != ino->uid))
		return -EPERM;
	if (has_gid(a) && (cred->uid != ino->uid ||
			   (a->gid != ino->gid && !ns_in_group(cred, a->gid))))
		return -EPERM;
	if (cred->uid != ino->uid && takes_rights(cred, ino, a))
		return -EPERM;
	return 0;
}

static int may_chmod(const struct ns_cred *cred, const struct inode *ino,
		     const struct ns_setattr_args *a)
{
	if (!(a->valid & WIRE_S_MODE))
		return 0;
	if (S_ISLNK(ino->mode))
		return -EOPNOTSUPP;
	return ns_is_owner(cred, ino) ? 0 : -EPERM;
}

/*
 * A user with write permission may set both times to now; only the owner may do
 * anything else.
 */
static int may_utimens(const struct ns_op *op, const struct inode *ino,
		       const struct ns_setattr_args *a)
{
	if (!(a->valid & TIMES) || ns_is_owner(op->cred, ino))
		return 0;
	if ((a->valid & TIMES) == TOUCH)
		return ns_may(op, ino, W_OK);
	return -EPERM;
}

static int may_kill(const struct ns_op *op, const struct inode *ino,
		    const struct ns_setattr_args *a)
{
	if (!(a->valid & WIRE_S_KILL) || ns_is_owner(op->cred, ino) ||
	    ns_opened(op, ino, a->open))
		return 0;
	return ns_may(op, ino, W_OK);
}

/* Set-id bits and capabilities grant rights of the old owner for the old content. */
static int kill_rights(struct ns_op *op, struct inode *ino,
		       const struct ns_setattr_args *a)
{
	if (!(a->valid & (WIRE_S_UID | WIRE_S_GID | WIRE_S_KILL)) ||
	    S_ISDIR(ino->mode))
		return 0;
	ns_lose_suid(op->cred, ino);
	return ns_lose_caps(op, ino);
}

static void set_owner(struct inode *ino, const struct ns_setattr_args *a)
{
	if (has_uid(a))
		ino->uid = a->uid;
	if (has_gid(a))
		ino->gid = a->gid;
}

static int set_acl(struct store *st, struct inode *ino)
{
	struct acl acl;
	int rc = acl_get(st, ino, ACL_OF_ACCESS, &acl);

	if (rc)
		return rc == -ENODATA ? 0 : rc;
	acl_chmod(&acl, ino->mode);
	return acl_put(st, ino, ACL_OF_ACCESS, &acl);
}

static int set_mode(const struct ns_op *op, struct inode *ino,
		    const struct ns_setattr_args *a)
{
	const struct ns_cred *cred = op->cred;

	if (!(a->valid & WIRE_S_MODE))
		return 0;
	ino->mode = (ino->mode & S_IFMT) | (a->mode & 07777);
	if (cred->uid != 0 && !ns_in_group(cred, ino->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
	return set_acl(op->ns->st, ino);
}

static void set_times(const struct ns_op *op, struct inode *ino,
		      const struct ns_setattr_args *a)
{
	if (a->valid & WIRE_S_ATIME)
		ino->atime = a->atime;
	if (a->valid & WIRE_S_ATIME_NOW)
		ino->atime = op->now;
	if (a->valid & WIRE_S_MTIME)
		ino->mtime = a->mtime;
	if (a->valid & WIRE_S_MTIME_NOW)
		ino->mtime = op->now;
	if (a->valid & (WIRE_S_MTIME | WIRE_S_MTIME_NOW))
		ino->mset = op->now;
}

int ns_setattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       const struct ns_setattr_args *a, struct inode *out)
{
	struct ns_place place;
	struct inode *ino = &place.ino;
	int rc;

	rc = check(a);
	if (!rc)
		rc = ns_resolve(op, path, follow ? NS_FOLLOW : 0, &place);
	if (!rc)
		rc = may_chown(op->cred, ino, a);
	if (!rc)
		rc = may_chmod(op->cred, ino, a);
	if (!rc)
		rc = may_utimens(op, ino, a);
	if (!rc)
		rc = may_kill(op, ino, a);
	if (!rc)
		rc = kill_rights(op, ino, a);
	if (!rc && a->valid) {
		set_owner(ino, a);
		set_times(op, ino, a);
		ino->ctime = op->now;
		rc = set_mode(op, ino, a);
		if (!rc)
			rc = inode_put(op->ns->st, ino);
	}
	if (!rc)
		*out = *ino;
	return rc;
}

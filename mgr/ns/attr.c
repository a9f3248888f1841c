/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr.c - GETATTR, ACCESS, SETATTR (chmod, chown, utimens), and the form of an inode on the wire.
 */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/acl.h"
#include "mgr/ns/ns_int.h"

/* ---- GETATTR and ACCESS ---- */

/* A client that does not know the ring cannot ask the iods while the file is open for writing. */
static bool must_ask(const struct ns_op *op, const struct inode *ino)
{
	if (ns_client_knows_ring(op, ino))
		return ns_must_ask(ino);
	return S_ISREG(ino->mode) && ino->flags & INODE_ASK;
}

int ns_getattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       struct inode *ino)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, follow ? NS_FOLLOW : 0, &place);
	if (rc)
		return rc;
	if (must_ask(op, &place.ino) && !op->asked) {
		op->wait = place.ino.handle;
		return NS_ASK;
	}
	if (ns_is_unsure(&place.ino))
		op->unsure = place.ino.handle;
	*ino = place.ino;
	return 0;
}

int ns_access(struct ns_op *op, const struct ns_path *path, uint32_t mask)
{
	struct ns_place place;
	int rc;

	if (mask & ~(uint32_t)(R_OK | W_OK | X_OK))
		return -EINVAL;
	rc = ns_resolve(op, path, NS_FOLLOW, &place);
	return rc ? rc : ns_may(op, &place.ino, mask);
}

/* ---- SETATTR ---- */

#define TIMES                                                                  \
	(WIRE_S_ATIME | WIRE_S_MTIME | WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW)
#define TOUCH (WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW)

static int check_valid_bits(const struct ns_setattr_args *a)
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
	ns_clear_suid(cred, &left);
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
	    ns_is_writer(op, ino, a->open))
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
	ns_clear_suid(op->cred, ino);
	return ns_clear_capabilities(op, ino);
}

static void set_owner(struct inode *ino, const struct ns_setattr_args *a)
{
	if (has_uid(a))
		ino->uid = a->uid;
	if (has_gid(a))
		ino->gid = a->gid;
}

static int chmod_acl(struct store *st, struct inode *ino)
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
	return chmod_acl(op->ns->st, ino);
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

	rc = check_valid_bits(a);
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

/* ---- on the wire ---- */

static uint32_t absent_attr_flags(const struct ns_op *op,
				  const struct inode *ino)
{
	bool none = !acl_exists(ino, ACL_OF_ACCESS) &&
		    !acl_exists(ino, ACL_OF_CHILDREN);

	if (!(op->features & WIRE_FT_LACKS))
		return 0;
	return (none ? WIRE_A_NOACL : 0) |
	       (ino->flags & INODE_XATTR ? 0 : WIRE_A_NOXATTR);
}

static bool is_sole(const struct ns_op *op, const struct inode *ino)
{
	return op->features & WIRE_FT_SOLE && size_is_sole(ino, op->session);
}

bool ns_client_knows_ring(const struct ns_op *op, const struct inode *ino)
{
	return !ino->dist.ring || op->features & WIRE_FT_COPIES;
}

/* A client that does not know the ring cannot ask the iods, so ns_getattr() has asked them. */
static uint32_t size_flags(const struct ns_op *op, const struct inode *ino)
{
	bool known = !S_ISREG(ino->mode) || !(ino->flags & INODE_ASK);

	if (!ns_client_knows_ring(op, ino))
		return WIRE_A_SIZE;
	return (known ? WIRE_A_SIZE : 0) |
	       (ino->flags & INODE_HOLES ? WIRE_A_HOLES : 0) |
	       (is_sole(op, ino) ? WIRE_A_SOLE : 0);
}

static uint32_t flags_of(const struct ns_op *op, const struct inode *ino)
{
	return size_flags(op, ino) | (ino->mset ? WIRE_A_MSET : 0) |
	       absent_attr_flags(op, ino);
}

/*
 * The highest released end is the size only if the client is the sole writer.  While a file is open
 * for writing, its tail has the answer of the iods.
 */
static uint64_t size_of(const struct ns_op *op, const struct inode *ino)
{
	if (!ns_client_knows_ring(op, ino) && ino->flags & INODE_ASK &&
	    ino->tail > ino->size)
		return ino->tail;
	return is_sole(op, ino) && ino->end > ino->size ? ino->end : ino->size;
}

/*
 * To a client that does not know the ring, the file is on all iods.  So pvfs-fsck of an earlier
 * release takes no object for one that belongs elsewhere.
 */
static struct wire_dist dist_of(const struct ns_op *op, const struct inode *ino)
{
	const struct dist *d = &ino->dist;

	if (!ns_client_knows_ring(op, ino))
		return (struct wire_dist){ .pcount = htole32(op->ns->niods),
					   .ssize = htole32(d->ssize) };
	return (struct wire_dist){ .base = htole32(d->base),
				   .pcount = htole32(d->pcount),
				   .ssize = htole32(d->ssize),
				   .ring = htole32(d->ring) };
}

void ns_fill_attr(const struct ns_op *op, const struct inode *ino,
		  struct wire_attr *attr)
{
	*attr = (struct wire_attr){
		.handle = handle_to_wire(op->ns->st, ino->handle),
		.size = htole64(size_of(op, ino)),
		.atime = htole64((uint64_t)ino->atime),
		.mtime = htole64((uint64_t)ino->mtime),
		.ctime = htole64((uint64_t)ino->ctime),
		.mode = htole32(ino->mode),
		.nlink = htole32(ino->nlink),
		.uid = htole32(ino->uid),
		.gid = htole32(ino->gid),
		.flags = htole32(flags_of(op, ino)),
		.dist = dist_of(op, ino),
	};
}

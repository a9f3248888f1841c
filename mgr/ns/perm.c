/* SPDX-License-Identifier: BSD-2-Clause */
/* perm.c - permissions: the rules of POSIX, as Linux implements them. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/acl_row.h"
#include "mgr/ns/ns_int.h"
#include "mgr/db/inode.h"

#define ENTRIES_STEP 16u /* entries of an ACL that cost as much as a row */

bool ns_is_owner(const struct ns_cred *cred, const struct inode *ino)
{
	return cred->uid == 0 || cred->uid == ino->uid;
}

static bool is_listed(const struct ns_cred *cred, uint32_t gid)
{
	uint32_t from = 0, to = cred->sorted ? cred->ngroups : 0;

	for (uint32_t i = 0; !cred->sorted && i < cred->ngroups; i++)
		if (cred->groups[i] == gid)
			return true;
	while (from < to) {
		uint32_t half = from + (to - from) / 2;

		if (cred->groups[half] == gid)
			return true;
		if (cred->groups[half] < gid)
			from = half + 1;
		else
			to = half;
	}
	return false;
}

bool ns_in_group(const struct ns_cred *cred, uint32_t gid)
{
	if (cred->gid == gid)
		return true;
	if (!cred->root_gid)
		return is_listed(cred, gid);
	return gid && (is_listed(cred, gid) ||
		       (gid == cred->root_gid && is_listed(cred, 0)));
}

static int may_root(const struct inode *ino, uint32_t mask)
{
	if (!(mask & X_OK) || inode_is_dir(ino) || ino->mode & 0111)
		return 0;
	return -EACCES;
}

static int may_acl(const struct ns_op *op, const struct inode *ino,
		   uint32_t mask)
{
	struct acl acl;
	int rc = acl_get(op->ns->st, ino, ACL_OF_ACCESS, &acl);

	if (rc)
		return rc;
	op->ns->steps += acl.n / ENTRIES_STEP;
	return acl_may(&acl, op->cred, ino->gid, mask);
}

/* As in Linux: an ACL whose mask grants nothing is not evaluated. */
static bool has_acl(const struct inode *ino)
{
	return acl_there(ino, ACL_OF_ACCESS) && ino->mode & S_IRWXG;
}

int ns_may(const struct ns_op *op, const struct inode *ino, uint32_t mask)
{
	const struct ns_cred *cred = op->cred;
	uint32_t bits = ino->mode & 7;

	if (cred->uid == 0)
		return may_root(ino, mask);
	if (cred->uid == ino->uid)
		bits = ino->mode >> 6 & 7;
	else if (has_acl(ino))
		return may_acl(op, ino, mask);
	else if (ns_in_group(cred, ino->gid))
		bits = ino->mode >> 3 & 7;
	return mask & ~bits ? -EACCES : 0;
}

int ns_may_create(struct ns_op *op, const struct inode *dir)
{
	int rc = ns_may(op, dir, W_OK | X_OK);

	if (rc)
		return rc;
	return store_check_space(op->ns->st) ? -ENOSPC : 0;
}

int ns_may_delete(const struct ns_op *op, const struct inode *dir,
		  const struct inode *victim)
{
	const struct ns_cred *cred = op->cred;
	int rc = ns_may(op, dir, W_OK | X_OK);

	if (rc)
		return rc;
	if (!(dir->mode & S_ISVTX) || ns_is_owner(cred, victim) ||
	    ns_is_owner(cred, dir))
		return 0;
	return -EPERM;
}

bool ns_opened(const struct ns_op *op, const struct inode *ino, uint64_t open)
{
	struct open_rec rec;

	return open && !open_get(op->ns->st, op->session, open, &rec) &&
	       rec.handle == ino->handle && !(rec.flags & OPEN_HOLD);
}

uint32_t ns_drop_suid(uint32_t mode)
{
	if (S_ISDIR(mode))
		return mode;
	mode &= ~(uint32_t)S_ISUID;
	/* without group execution the bit means mandatory locking */
	if (mode & S_IXGRP)
		mode &= ~(uint32_t)S_ISGID;
	return mode;
}

/*
 * As in Linux since 6.2: a user outside the group also clears a set-group-id bit
 * without group execution, which means mandatory locking.
 */
void ns_lose_suid(const struct ns_cred *cred, struct inode *ino)
{
	ino->mode = ns_drop_suid(ino->mode);
	if (!S_ISDIR(ino->mode) && cred->uid && !ns_in_group(cred, ino->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
}

int ns_lose_caps(struct ns_op *op, const struct inode *ino)
{
	static const char name[] = "security.capability";
	int rc;

	if (!(ino->flags & INODE_XATTR))
		return 0;
	rc = xattr_del(op->ns->st, ino->handle, name, sizeof(name) - 1);
	return rc == -ENODATA ? 0 : rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* acl_row.c - see acl_row.h. */
#include "mgr/ns/acl_row.h"

#include <errno.h>
#include <string.h>

#include "mgr/ns/ns_int.h"
#include "mgr/db/inode.h"

_Static_assert(ACL_BYTES_MAX <= XATTR_VALUE_BYTES, "a list fits a row");

static const struct {
	const char *name;
	uint32_t flag;
} kinds[] = {
	[ACL_OF_ACCESS] = { "system.posix_acl_access", INODE_ACL },
	[ACL_OF_CHILDREN] = { "system.posix_acl_default", INODE_ACL_DEFAULT },
};

enum acl_kind acl_kind_of(const char *name, size_t len)
{
	enum acl_kind k;

	for (k = ACL_OF_ACCESS; k < ACL_OF_NONE; k++)
		if (len == strlen(kinds[k].name) &&
		    !memcmp(name, kinds[k].name, len))
			break;
	return k;
}

bool acl_there(const struct inode *ino, enum acl_kind kind)
{
	return ino->flags & kinds[kind].flag;
}

int acl_get(struct store *st, const struct inode *ino, enum acl_kind kind,
	    struct acl *acl)
{
	const char *name = kinds[kind].name;
	uint8_t bytes[XATTR_VALUE_BYTES];
	size_t len;
	int rc;

	if (!acl_there(ino, kind))
		return -ENODATA;
	rc = xattr_get(st, ino->handle, name, strlen(name), bytes, &len);
	if (!rc && !acl_parse(bytes, len, acl) && acl->n)
		return 0;
	if (rc && rc != -ENODATA)
		return rc;
	log_error(store_log(st),
		  "inode %llu: %s is damaged or missing; remove "
		  "it (setfacl -b) and set it again",
		  (unsigned long long)ino->handle, name);
	return -EIO;
}

static int drop(struct store *st, struct inode *ino, enum acl_kind kind)
{
	const char *name = kinds[kind].name;
	int rc;

	if (!acl_there(ino, kind))
		return 0;
	rc = xattr_del(st, ino->handle, name, strlen(name));
	if (!rc || rc == -ENODATA)
		ino->flags &= ~kinds[kind].flag;
	return rc == -ENODATA ? 0 : rc;
}

int acl_put(struct store *st, struct inode *ino, enum acl_kind kind,
	    const struct acl *acl)
{
	const char *name = kinds[kind].name;
	uint8_t bytes[ACL_BYTES_MAX];

	if (!acl->n)
		return drop(st, ino, kind);
	ino->flags |= kinds[kind].flag | INODE_XATTR;
	return xattr_put(st, ino->handle, name, strlen(name), bytes,
			 acl_pack(acl, bytes));
}

/* A list that says no more than the mode is not stored. */
static void set_mode(const struct ns_op *op, struct inode *ino, struct acl *acl)
{
	if (!acl->n)
		return;
	ino->mode = acl_mode(acl, ino->mode);
	if (op->cred->uid != 0 && !ns_in_group(op->cred, ino->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
	if (acl_is_mode(acl))
		acl->n = 0;
}

int acl_set(const struct ns_op *op, struct inode *ino, enum acl_kind kind,
	    const void *bytes, size_t len, bool *changed)
{
	struct acl acl;
	int rc = acl_parse(bytes, len, &acl);

	*changed = false;
	if (rc)
		return rc;
	if (kind == ACL_OF_CHILDREN && !inode_is_dir(ino))
		return acl.n ? -EACCES : 0;
	if (!ns_is_owner(op->cred, ino))
		return -EPERM;
	if (kind == ACL_OF_ACCESS)
		set_mode(op, ino, &acl);
	rc = acl_put(op->ns->st, ino, kind, &acl);
	*changed = !rc;
	return rc;
}

int acl_inherit(const struct ns_op *op, const struct inode *dir,
		struct inode *ino)
{
	struct store *st = op->ns->st;
	struct acl acl;
	int rc;

	if (S_ISLNK(ino->mode))
		return 0;
	rc = acl_get(st, dir, ACL_OF_CHILDREN, &acl);
	if (rc == -ENODATA)
		ino->mode &= ~(op->umask & 0777u);
	if (rc)
		return rc == -ENODATA ? 0 : rc;
	if (inode_is_dir(ino))
		rc = acl_put(st, ino, ACL_OF_CHILDREN, &acl);
	ino->mode = acl_create(&acl, ino->mode);
	if (!rc && !acl_is_mode(&acl))
		rc = acl_put(st, ino, ACL_OF_ACCESS, &acl);
	return rc;
}

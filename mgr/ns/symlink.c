/* SPDX-License-Identifier: BSD-2-Clause */
/* symlink.c - SYMLINK and READLINK. */
#include <errno.h>

#include "mgr/ns/ns_int.h"

int ns_symlink(struct ns_op *op, const char *target, size_t len,
	       const struct ns_path *path, struct inode *ino)
{
	struct ns_place place;
	int rc;

	if (!len)
		return -ENOENT;
	if (len > SYMLINK_MAX)
		return -ENAMETOOLONG;
	op->which = 1;
	rc = ns_resolve(op, path, NS_ENTRY, &place);
	if (rc)
		return rc;
	if (place.last != NS_LAST_NAME || place.found)
		return -EEXIST;
	if (place.slash)
		return -ENOENT;
	rc = ns_may_create(op, &place.dir);
	if (rc)
		return rc;
	rc = ns_inode_new(op, S_IFLNK | 0777, &place.dir, ino);
	if (rc)
		return rc;
	ino->size = len;
	rc = symlink_put(op->ns->st, ino->handle, target, len);
	return rc ? rc : ns_enter(op, &place, ino);
}

int ns_readlink(struct ns_op *op, const struct ns_path *path,
		const char **target, size_t *len)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, 0, &place);
	if (rc)
		return rc;
	if (!S_ISLNK(place.ino.mode))
		return -EINVAL;
	rc = symlink_get(op->ns->st, place.ino.handle, op->ns->redirect, len);
	if (!rc)
		*target = op->ns->redirect;
	return rc;
}

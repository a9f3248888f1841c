/* SPDX-License-Identifier: BSD-2-Clause */
/* mkdir.c - MKDIR and RMDIR. */
#include <errno.h>

#include "mgr/ns/ns_int.h"

int ns_mkdir(struct ns_op *op, const struct ns_path *path, uint32_t mode,
	     struct inode *ino)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, NS_ENTRY, &place);
	if (rc)
		return rc;
	if (place.last != NS_LAST_NAME || place.found)
		return -EEXIST;
	rc = ns_may_create(op, &place.dir);
	if (!rc)
		rc = ns_add_subdir(&place.dir);
	if (rc)
		return rc;
	rc = ns_inode_new(op, S_IFDIR | (mode & 01777), &place.dir, ino);
	if (rc)
		return rc;
	ino->nlink = 2;
	ino->parent = place.dir.handle;
	return ns_enter(op, &place, ino);
}

static int check_rmdir(struct ns_op *op, const struct ns_place *place)
{
	int rc;

	if (place->last == NS_LAST_SELF)
		return -EBUSY;
	if (place->last == NS_LAST_DOT)
		return -EINVAL;
	if (place->last == NS_LAST_DOTDOT)
		return -ENOTEMPTY;
	if (!place->found)
		return -ENOENT;
	rc = ns_may_delete(op, &place->dir, &place->ino);
	if (rc)
		return rc;
	if (!inode_is_dir(&place->ino))
		return -ENOTDIR;
	rc = dent_is_empty_dir(op->ns->st, place->ino.handle);
	return rc < 0 ? rc : rc ? 0 : -ENOTEMPTY;
}

int ns_rmdir(struct ns_op *op, const struct ns_path *path)
{
	struct store *st = op->ns->st;
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, NS_ENTRY, &place);
	if (!rc)
		rc = check_rmdir(op, &place);
	if (!rc)
		rc = dent_del(st, place.dir.handle, place.name, place.len);
	if (rc)
		return rc;
	place.dir.nlink--;
	ns_touch(op, &place.dir);
	place.ino.nlink = 0;
	rc = ns_settle(op, &place.ino);
	return rc ? rc : inode_put(st, &place.dir);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* unlink.c - UNLINK: the data is removed with the last name and the last open record. */
#include <errno.h>

#include "mgr/ns/ns_int.h"

static int check(struct ns_op *op, const struct ns_place *place)
{
	int rc;

	if (place->last != NS_LAST_NAME)
		return -EISDIR;
	if (!place->found)
		return -ENOENT;
	if (place->slash)
		return inode_is_dir(&place->ino) ? -EISDIR : -ENOTDIR;
	rc = ns_may_delete(op, &place->dir, &place->ino);
	if (rc)
		return rc;
	return inode_is_dir(&place->ino) ? -EISDIR : 0;
}

int ns_unlink(struct ns_op *op, const struct ns_path *path, struct inode *dir)
{
	struct store *st = op->ns->st;
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, NS_ENTRY, &place);
	if (!rc)
		rc = check(op, &place);
	if (!rc)
		rc = ns_before_drop(op, &place.ino);
	if (!rc)
		rc = dent_del(st, place.dir.handle, place.name, place.len);
	if (!rc)
		rc = ns_drop_link(op, &place.ino);
	if (rc)
		return rc;
	ns_touch(op, &place.dir);
	rc = inode_put(st, &place.dir);
	if (!rc)
		*dir = place.dir;
	return rc;
}

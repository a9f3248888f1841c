/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.c - MKDIR, RMDIR, MKNOD, SYMLINK and READLINK: objects without data at the iods.  OPEN
 * creates files.
 */
#include <errno.h>

#include "mgr/ns/ns_int.h"

/* ---- MKDIR and RMDIR ---- */

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
	return ns_add_entry(op, &place, ino);
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
	ns_touch_dir(op, &place.dir);
	place.ino.nlink = 0;
	rc = ns_put_or_remove(op, &place.ino);
	return rc ? rc : inode_put(st, &place.dir);
}

/* ---- MKNOD: special files, which only have a name here; each host's kernel serves them ---- */

static bool is_device(uint32_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode);
}

int ns_mknod(struct ns_op *op, const struct ns_mknod_args *args,
	     struct inode *ino)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, &args->path, NS_ENTRY, &place);
	if (rc)
		return rc;
	if (place.last != NS_LAST_NAME || place.found)
		return -EEXIST;
	if (place.slash)
		return -ENOENT;
	rc = ns_may_create(op, &place.dir);
	if (rc)
		return rc;
	if (is_device(args->mode) && op->cred->uid != 0)
		return -EPERM;
	rc = ns_inode_new(op, args->mode, &place.dir, ino);
	if (rc)
		return rc;
	if (is_device(args->mode)) {
		ino->base = args->major;
		ino->pcount = args->minor;
	}
	return ns_add_entry(op, &place, ino);
}

/* ---- SYMLINK and READLINK ---- */

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
	return rc ? rc : ns_add_entry(op, &place, ino);
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

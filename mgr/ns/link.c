/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.c - an inode and its names: LINK, UNLINK, MKDIR, RMDIR, MKNOD, SYMLINK and READLINK.  OPEN
 * creates files.
 */
#include <errno.h>
#include <string.h>

#include "mgr/db/inode.h"
#include "mgr/ns/acl.h"
#include "mgr/ns/holds.h"
#include "mgr/ns/ns_int.h"

/* ---- an inode and its names ---- */

static void inherit_group(const struct ns_op *op, const struct inode *dir,
			  struct inode *ino)
{
	const uint32_t mode = ino->mode;

	if (!(dir->mode & S_ISGID))
		return;
	ino->gid = dir->gid;
	if (S_ISDIR(mode))
		ino->mode |= S_ISGID;
	else if ((mode & S_IXGRP) && op->cred->uid != 0 &&
		 !ns_in_group(op->cred, dir->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
}

int ns_inode_new(struct ns_op *op, uint32_t mode, const struct inode *dir,
		 struct inode *ino)
{
	*ino = (struct inode){
		.handle = store_new_id(op->ns->st),
		.mode = mode,
		.nlink = 1,
		.uid = op->cred->uid,
		.gid = op->cred->gid,
		.atime = op->now,
		.mtime = op->now,
		.ctime = op->now,
	};
	op->ns->delta++;
	inherit_group(op, dir, ino);
	return acl_inherit(op, dir, ino);
}

void ns_touch_dir(struct ns_op *op, struct inode *dir)
{
	dir->mtime = dir->ctime = op->now;
}

int ns_add_entry(struct ns_op *op, struct ns_place *place, struct inode *ino)
{
	struct dent dent = { .handle = ino->handle,
			     .mode = ino->mode & S_IFMT };
	struct store *st = op->ns->st;
	int rc;

	ns_touch_dir(op, &place->dir);
	rc = inode_put(st, ino);
	if (!rc)
		rc = dent_insert(st, place->dir.handle, place->name, place->len,
				 &dent);
	return rc ? rc : inode_put(st, &place->dir);
}

static int record_remove(struct ns_op *op, const struct inode *ino)
{
	struct intent in = { .kind = INTENT_REMOVE,
			     .id = store_new_id(op->ns->st),
			     .handle = ino->handle,
			     .dist = ino->dist };

	op->ns->removed = in.id;
	return intent_put(op->ns->st, &in);
}

/* A session that holds the file may not have declared yet. */
static int keep_for_now(struct ns_op *op, const struct inode *ino)
{
	struct intent in = { .kind = INTENT_LATER,
			     .id = store_new_id(op->ns->st),
			     .handle = ino->handle };
	int rc = inode_put(op->ns->st, ino);

	op->ns->holds.later = true;
	return rc ? rc : intent_put(op->ns->st, &in);
}

int ns_remove_later(struct ns_op *op)
{
	struct store *st = op->ns->st;
	struct intent in;
	struct inode ino;
	int rc = intent_next(st, INTENT_LATER, 0, &in);

	if (rc)
		return rc;
	rc = intent_del(st, INTENT_LATER, in.id);
	if (!rc)
		rc = inode_get(st, in.handle, &ino);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	return ns_put_or_remove(op, &ino);
}

int ns_put_or_remove(struct ns_op *op, struct inode *ino)
{
	struct store *st = op->ns->st;
	int rc = 0;

	if (ino->nlink || ino->writers || ino->holders ||
	    ino->flags & INODE_BUSY)
		return inode_put(st, ino);
	if (S_ISREG(ino->mode) && !holds_are_complete(op->ns))
		return keep_for_now(op, ino);
	if (S_ISLNK(ino->mode))
		rc = symlink_del(st, ino->handle);
	else if (S_ISREG(ino->mode) && ino->flags & INODE_DATA)
		rc = record_remove(op, ino);
	if (!rc && ino->flags & INODE_XATTR)
		rc = xattr_del_all(st, ino->handle);
	if (rc)
		return rc;
	if (ns_is_counted(op->ns, ino->handle))
		op->ns->delta--;
	return inode_del(st, ino->handle);
}

int ns_add_subdir(struct inode *dir)
{
	if (dir->nlink == UINT32_MAX)
		return -EMLINK;
	dir->nlink++;
	return 0;
}

int ns_before_drop_link(struct ns_op *op, struct inode *ino)
{
	return ino->nlink == 1 ? holds_store(op, ino) : 0;
}

int ns_drop_link(struct ns_op *op, struct inode *ino)
{
	ino->nlink--;
	ino->ctime = op->now;
	return ns_put_or_remove(op, ino);
}

static int check_new_name(const struct ns_place *to)
{
	if (to->last != NS_LAST_NAME || to->found)
		return -EEXIST;
	return to->slash ? -ENOENT : 0;
}

int ns_link(struct ns_op *op, const struct ns_path *from,
	    const struct ns_path *to, struct inode *ino)
{
	struct ns_place src, dst;
	int rc;

	rc = ns_resolve(op, from, 0, &src);
	if (rc)
		return rc;
	op->which = 1;
	rc = ns_resolve(op, to, NS_ENTRY, &dst);
	if (!rc)
		rc = check_new_name(&dst);
	if (!rc)
		rc = ns_may_create(op, &dst.dir);
	if (rc)
		return rc;
	if (inode_is_dir(&src.ino))
		return -EPERM;
	if (!src.ino.nlink)
		return -ENOENT;
	if (src.ino.nlink >= NS_LINK_MAX)
		return -EMLINK;
	src.ino.nlink++;
	src.ino.ctime = op->now;
	*ino = src.ino;
	return ns_add_entry(op, &dst, ino);
}

/* ---- UNLINK: the data is removed with the last name and the last open record ---- */

static int check_unlink(struct ns_op *op, const struct ns_place *place)
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
		rc = check_unlink(op, &place);
	if (!rc)
		rc = ns_before_drop_link(op, &place.ino);
	if (!rc)
		rc = dent_del(st, place.dir.handle, place.name, place.len);
	if (!rc)
		rc = ns_drop_link(op, &place.ino);
	if (rc)
		return rc;
	ns_touch_dir(op, &place.dir);
	rc = inode_put(st, &place.dir);
	if (!rc)
		*dir = place.dir;
	return rc;
}

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
		ino->dist.base = args->major;
		ino->dist.pcount = args->minor;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* truncate.c - TRUNCATE: recorded here, executed by the iods. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/ns_int.h"

static int check(struct ns_op *op, const struct inode *ino, uint64_t size,
		 uint64_t open)
{
	if (inode_is_dir(ino))
		return -EISDIR;
	if (!S_ISREG(ino->mode))
		return -EINVAL;
	if (size > INT64_MAX)
		return -EFBIG;
	if (ns_opened(op, ino, open))
		return 0;
	return ns_may(op, ino, W_OK);
}

static int record(struct ns_op *op, const struct inode *ino, uint64_t size,
		  struct intent *in)
{
	in->kind = INTENT_RESIZE;
	in->id = store_new_id(op->ns->st);
	in->handle = ino->handle;
	in->base = ino->base;
	in->pcount = ino->pcount;
	in->ssize = ino->ssize;
	in->size = size;
	in->session = op->session;
	return intent_put(op->ns->st, in);
}

int ns_cut(struct ns_op *op, struct inode *ino)
{
	ino->mtime = ino->ctime = op->now;
	ino->mset = 0;
	if (op->cred->uid != 0)
		ns_lose_suid(op->cred, ino);
	return ns_lose_caps(op, ino);
}

int ns_busy(struct ns_op *op, const struct inode *ino)
{
	if (!(ino->flags & INODE_BUSY))
		return 0;
	op->wait = ino->handle;
	return NS_BUSY;
}

int ns_truncate(struct ns_op *op, const struct ns_path *path, uint64_t size,
		uint64_t open, struct intent *in)
{
	struct ns_place place;
	struct inode *ino = &place.ino;
	int rc;

	in->id = 0;
	rc = ns_resolve(op, path, NS_FOLLOW, &place);
	if (!rc)
		rc = check(op, ino, size, open);
	if (rc)
		return rc;
	rc = ns_busy(op, ino);
	if (rc)
		return rc;
	rc = ns_cut(op, ino);
	if (!rc && !size_is(ino, size)) {
		size_resizing(ino);
		rc = record(op, ino, size, in);
	}
	return rc ? rc : inode_put(op->ns->st, ino);
}

/*
 * The iods stamp the truncation later, with their own clocks.  A later question for the
 * size would take that time for a write, so mtime moves up to it.
 */
static void cut_at(struct inode *ino, int64_t now)
{
	if (ino->mset || ino->mtime >= now)
		return;
	ino->mtime = now;
	if (ino->ctime < now)
		ino->ctime = now;
}

int ns_resized(struct ns_op *op, const struct intent *in, int status)
{
	struct inode ino;
	int rc;

	rc = intent_del(op->ns->st, INTENT_RESIZE, in->id);
	if (!rc)
		rc = inode_get(op->ns->st, in->handle, &ino);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	size_resized(&ino, in->size, status);
	if (!status)
		cut_at(&ino, op->now);
	return ns_settle(op, &ino);
}

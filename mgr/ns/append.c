/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * append.c - APPEND: reserves a range at the end of the file.  While all writers only
 * append, the manager knows the end.  Otherwise it asks the iods each time.
 */
#include <errno.h>

#include "common/util/extent.h"
#include "mgr/ns/ns_int.h"

static bool tail_known(const struct inode *ino)
{
	return !(ino->flags & INODE_TAINT) && ino->writers == ino->appenders;
}

static uint64_t tail(const struct inode *ino)
{
	uint64_t t = ino->tail;

	/* releases may report bytes that a truncation removed */
	if (ino->flags & INODE_TAINT)
		return t;
	if (ino->size > t)
		t = ino->size;
	return ino->end > t ? ino->end : t;
}

/* The open record no longer counts as append-only. */
static int stop_appending(struct store *st, struct open_rec *rec,
			  struct inode *ino)
{
	int rc;

	if (!(rec->flags & OPEN_APPEND))
		return 0;
	rec->flags &= ~OPEN_APPEND;
	ino->appenders--;
	rc = open_put(st, rec);
	return rc ? rc : inode_put(st, ino);
}

int ns_append(struct ns_op *op, uint64_t handle, uint64_t open, uint64_t len,
	      uint64_t *offset)
{
	struct store *st = op->ns->st;
	struct open_rec rec;
	struct inode ino;
	uint64_t off, end;
	int rc;

	rc = open_get(st, op->session, open, &rec);
	if (rc == -ENOENT ||
	    (!rc && (rec.handle != handle || rec.flags & OPEN_HOLD)))
		return -EBADF;
	if (!rc)
		rc = inode_get(st, handle, &ino);
	if (rc)
		return rc;
	*offset = 0;
	if (!len)
		return stop_appending(st, &rec, &ino);
	op->wait = handle;
	if (ino.flags & INODE_BUSY)
		return NS_BUSY;
	if (!tail_known(&ino) && !op->asked)
		return NS_ASK;
	off = tail(&ino);
	if (!extent_end(off, len, &end))
		return -EFBIG;
	ino.tail = end;
	*offset = off;
	return inode_put(st, &ino);
}

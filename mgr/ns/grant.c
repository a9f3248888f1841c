/* SPDX-License-Identifier: BSD-2-Clause */
/* grant.c - GRANT and REDEEM: a session passes an open file to another session. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/holds.h"

static int granted(struct ns_op *op, const struct ns_grant *grant,
		   struct open_rec *rec, struct inode *ino)
{
	struct store *st = op->ns->st;
	int rc = 0;

	*rec = (struct open_rec){ 0 };
	if (!holds_get(op->ns, grant->session, grant->open, &rec->handle,
		       &rec->flags))
		rc = open_get(st, grant->session, grant->open, rec);
	if (rc == -ENOENT || (!rc && rec->handle != grant->handle))
		return -EBADF;
	return rc ? rc : inode_get(st, rec->handle, ino);
}

int ns_may_grant(struct ns_op *op, const struct ns_grant *grant)
{
	struct open_rec rec;
	struct inode ino;
	int rc = granted(op, grant, &rec, &ino);

	if (rc)
		return rc;
	if (rec.flags & OPEN_HOLD && grant->flags & WIRE_O_WRITE)
		return -EBADF;
	if (rec.flags & OPEN_HOLD && !(rec.flags & OPEN_DECLARED))
		return 0;
	/* neither a writer's record nor a declared hold proves that the session may read;
	 * a mount for all users may read everything, with the rights of root */
	return grant->flags & WIRE_O_READ ? ns_may(op, &ino, R_OK) : 0;
}

int ns_redeem(struct ns_op *op, const struct ns_grant *grant, uint32_t flags,
	      struct inode *ino, uint64_t *open)
{
	struct open_rec rec;
	int rc = granted(op, grant, &rec, ino);

	*open = 0;
	if (rc)
		return rc;
	/* the granting session holds the file for readers */
	if (!(flags & WIRE_O_WRITE))
		return 0;
	rc = ns_busy(op, ino);
	if (rc)
		return rc;
	rc = ns_record_writer(op, flags, ino, open);
	return rc ? rc : inode_put(op->ns->st, ino);
}

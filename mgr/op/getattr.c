/* SPDX-License-Identifier: BSD-2-Clause */
/* getattr.c - GETATTR. */
#include <errno.h>

#include "mgr/op/ops.h"

int op_getattr(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct inode ino;
	int rc;

	rc = ns_getattr(&op->ns, &path,
			!(le32toh(body->flags) & WIRE_P_NOFOLLOW), &ino);
	if (rc == -ESTALE && le32toh(body->flags) & WIRE_P_EVER &&
	    !store_id_was_issued(op->mgr->st, path.dir))
		return -ENXIO;
	return rc ? rc : op_put_attr(op, &ino);
}

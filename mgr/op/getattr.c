/* SPDX-License-Identifier: BSD-2-Clause */
/* getattr.c - GETATTR. */
#include "op.h"

int op_getattr(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, le64toh(body->dir));
	struct inode ino;
	int rc;

	rc = ns_getattr(&op->ns, &path,
			!(le32toh(body->flags) & WIRE_P_NOFOLLOW), &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

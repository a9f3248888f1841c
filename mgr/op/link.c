/* SPDX-License-Identifier: BSD-2-Clause */
/* link.c - LINK and LINK2. */
#include "mgr/op/ops.h"

int op_link(struct op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);
	struct inode ino;

	return ns_link(&op->ns, &from, &to, &ino);
}

int op_link2(struct op *op)
{
	const struct wire_link2 *body = op->rpc->msg.body;
	const struct wire_tail *text = &op->rpc->msg.tail[0];
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);
	struct inode ino;
	int rc;

	if (le32toh(body->flags) & WIRE_LN_SYMBOLIC)
		rc = ns_symlink(&op->ns, text->ptr, text->len, &to, &ino);
	else
		rc = ns_link(&op->ns, &from, &to, &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

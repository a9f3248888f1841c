/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c - RENAME, and RENAME2 with flags. */
#include "mgr/op/ops.h"

int op_rename(struct op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);

	return ns_rename(&op->ns, &from, &to, 0);
}

int op_rename2(struct op *op)
{
	const struct wire_rename *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);

	return ns_rename(&op->ns, &from, &to, le32toh(body->flags));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* unlink.c - UNLINK and UNLINK2. */
#include "mgr/op/ops.h"

int op_unlink(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct inode dir;
	int rc = ns_unlink(&op->ns, &path, &dir);

	return rc || op->rpc->op == WIRE_UNLINK ? rc : op_put_attr(op, &dir);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* unlink.c - UNLINK. */
#include "ops.h"

int op_unlink(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);

	return ns_unlink(&op->ns, &path);
}

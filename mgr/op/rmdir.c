/* SPDX-License-Identifier: BSD-2-Clause */
/* rmdir.c - RMDIR. */
#include "mgr/op/ops.h"

int op_rmdir(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);

	return ns_rmdir(&op->ns, &path);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* access.c - ACCESS. */
#include "mgr/op/ops.h"

int op_access(struct op *op)
{
	const struct wire_access *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);

	return ns_access(&op->ns, &path, le32toh(body->mask));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* readlink.c - READLINK. */
#include "mgr/op/ops.h"

int op_readlink(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct wire_path_rep rep = { 0 };
	const char *target;
	size_t len;
	int rc;

	rc = ns_readlink(&op->ns, &path, &target, &len);
	if (rc)
		return rc;
	rep.path_len = htole32((uint32_t)len);
	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, target, len);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* mkdir.c - MKDIR. */
#include "mgr/op/ops.h"

int op_mkdir(struct op *op)
{
	const struct wire_mkdir *body = op->rpc->msg.body;
	uint32_t mode = le32toh(body->mode);
	struct ns_path path = op_path(op, 0, body->dir);
	struct inode ino;
	int rc;

	op->ns.umask = WIRE_MODE_UMASK(mode);
	rc = ns_mkdir(&op->ns, &path, WIRE_MODE_BITS(mode), &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

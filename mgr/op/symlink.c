/* SPDX-License-Identifier: BSD-2-Clause */
/* symlink.c - SYMLINK. */
#include "mgr/op/ops.h"

int op_symlink(struct op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	const struct wire_tail *target = &op->rpc->msg.tail[0];
	struct ns_path path = op_path(op, 1, body->dir2);
	struct inode ino;

	return ns_symlink(&op->ns, target->ptr, target->len, &path, &ino);
}

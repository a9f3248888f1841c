/* SPDX-License-Identifier: BSD-2-Clause */
/* mknod.c - MKNOD. */
#include "mgr/op/ops.h"

int op_mknod(struct op *op)
{
	const struct wire_mknod *body = op->rpc->msg.body;
	uint32_t mode = le32toh(body->mode);
	struct ns_mknod_args args = { .path = op_path(op, 0, body->dir),
				      .mode = WIRE_MODE_BITS(mode),
				      .major = le32toh(body->major),
				      .minor = le32toh(body->minor) };
	struct inode ino;
	int rc;

	op->ns.umask = WIRE_MODE_UMASK(mode);
	rc = ns_mknod(&op->ns, &args, &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* setattr.c - SETATTR. */
#include "mgr/op/ops.h"

/* See WIRE_S_KILL. */
static uint64_t args_open(const struct wire_setattr *body)
{
	return le32toh(body->valid) == WIRE_S_KILL ? le64toh(body->atime) : 0;
}

int op_setattr(struct op *op)
{
	const struct wire_setattr *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct ns_setattr_args args = {
		.valid = le32toh(body->valid),
		.mode = le32toh(body->mode),
		.uid = le32toh(body->uid),
		.gid = le32toh(body->gid),
		.atime = (int64_t)le64toh(body->atime),
		.mtime = (int64_t)le64toh(body->mtime),
		.open = args_open(body),
	};
	bool follow = !(le32toh(body->flags) & WIRE_P_NOFOLLOW);
	struct inode ino;
	int rc;

	rc = ns_setattr(&op->ns, &path, follow, &args, &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

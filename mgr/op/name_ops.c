/* SPDX-License-Identifier: BSD-2-Clause */
/* name_ops.c - operations that make, remove, change and read names. */

#include "mgr/op/mgr_ops.h"

int op_mkdir(struct mgr_op *op)
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

int op_rmdir(struct mgr_op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);

	return ns_rmdir(&op->ns, &path);
}

int op_mknod(struct mgr_op *op)
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

int op_link(struct mgr_op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);
	struct inode ino;

	return ns_link(&op->ns, &from, &to, &ino);
}

int op_link2(struct mgr_op *op)
{
	const struct wire_link2 *body = op->rpc->msg.body;
	const struct wire_tail *text = &op->rpc->msg.tail[0];
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);
	struct inode ino;
	int rc;

	if (le32toh(body->flags) & WIRE_LN_SYMBOLIC)
		rc = ns_symlink(&op->ns, text->ptr, text->len, &to, &ino);
	else
		rc = ns_link(&op->ns, &from, &to, &ino);
	return rc ? rc : op_put_attr(op, &ino);
}

int op_symlink(struct mgr_op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	const struct wire_tail *target = &op->rpc->msg.tail[0];
	struct ns_path path = op_path(op, 1, body->dir2);
	struct inode ino;

	return ns_symlink(&op->ns, target->ptr, target->len, &path, &ino);
}

int op_readlink(struct mgr_op *op)
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

int op_unlink(struct mgr_op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct inode dir;
	int rc = ns_unlink(&op->ns, &path, &dir);

	return rc || op->rpc->op == WIRE_UNLINK ? rc : op_put_attr(op, &dir);
}

int op_rename(struct mgr_op *op)
{
	const struct wire_two *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);

	return ns_rename(&op->ns, &from, &to, 0);
}

int op_rename2(struct mgr_op *op)
{
	const struct wire_rename *body = op->rpc->msg.body;
	struct ns_path from = op_path(op, 0, body->dir1);
	struct ns_path to = op_path(op, 1, body->dir2);

	return ns_rename(&op->ns, &from, &to, le32toh(body->flags));
}

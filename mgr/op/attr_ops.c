/* SPDX-License-Identifier: BSD-2-Clause */
/* attr_ops.c - GETATTR, SETATTR, ACCESS and the operations on extended attributes. */
#include <errno.h>

#include "mgr/op/mgr_ops.h"

int op_put_attr(struct mgr_op *op, const struct inode *ino)
{
	struct wire_attr_rep rep;

	ns_fill_attr(&op->ns, ino, &rep.attr);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

int op_getattr(struct mgr_op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct inode ino;
	int rc;

	rc = ns_getattr(&op->ns, &path,
			!(le32toh(body->flags) & WIRE_P_NOFOLLOW), &ino);
	if (rc == -ESTALE && le32toh(body->flags) & WIRE_P_EVER &&
	    !store_id_was_issued(op->mgr->st, path.dir))
		return -ENXIO;
	return rc ? rc : op_put_attr(op, &ino);
}

/* See WIRE_S_KILL. */
static uint64_t args_open(const struct wire_setattr *body)
{
	return le32toh(body->valid) == WIRE_S_KILL ? le64toh(body->atime) : 0;
}

int op_setattr(struct mgr_op *op)
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

int op_access(struct mgr_op *op)
{
	const struct wire_access *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);

	return ns_access(&op->ns, &path, le32toh(body->mask));
}

static struct ns_xattr xattr_args(const struct mgr_op *op, uint64_t dir)
{
	const struct wire_tail *name = &op->rpc->msg.tail[1];

	return (struct ns_xattr){ .path = op_path(op, 0, dir),
				  .name = name->ptr,
				  .nlen = name->len };
}

int op_setxattr(struct mgr_op *op)
{
	const struct wire_setxattr *body = op->rpc->msg.body;
	const struct wire_tail *value = &op->rpc->msg.tail[2];
	struct ns_xattr x = xattr_args(op, body->dir);

	x.value = value->ptr;
	x.len = value->len;
	x.flags = le32toh(body->flags);
	return ns_setxattr(&op->ns, &x);
}

static int put_xattr_reply(struct mgr_op *op, const void *bytes, size_t len)
{
	struct wire_xattr_rep rep = { .len = htole32((uint32_t)len) };

	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, bytes, len);
	return 0;
}

int op_getxattr(struct mgr_op *op)
{
	const struct wire_getxattr *body = op->rpc->msg.body;
	struct ns_xattr x = xattr_args(op, body->dir);
	char value[WIRE_XATTR_MAX];
	size_t len;
	int rc = ns_getxattr(&op->ns, &x, value, &len);

	return rc ? rc : put_xattr_reply(op, value, len);
}

int op_removexattr(struct mgr_op *op)
{
	const struct wire_getxattr *body = op->rpc->msg.body;
	struct ns_xattr x = xattr_args(op, body->dir);

	return ns_removexattr(&op->ns, &x);
}

int op_listxattr(struct mgr_op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	char names[WIRE_XATTR_LIST_MAX];
	size_t len;
	int rc = ns_listxattr(&op->ns, &path, names, &len);

	return rc ? rc : put_xattr_reply(op, names, len);
}

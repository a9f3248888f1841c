/* SPDX-License-Identifier: BSD-2-Clause */
/* xattr.c - SETXATTR, GETXATTR, LISTXATTR and REMOVEXATTR. */
#include "mgr/op/ops.h"

static struct ns_xattr named(const struct op *op, uint64_t dir)
{
	const struct wire_tail *name = &op->rpc->msg.tail[1];

	return (struct ns_xattr){ .path = op_path(op, 0, dir),
				  .name = name->ptr,
				  .nlen = name->len };
}

int op_setxattr(struct op *op)
{
	const struct wire_setxattr *body = op->rpc->msg.body;
	const struct wire_tail *value = &op->rpc->msg.tail[2];
	struct ns_xattr x = named(op, body->dir);

	x.value = value->ptr;
	x.len = value->len;
	x.flags = le32toh(body->flags);
	return ns_setxattr(&op->ns, &x);
}

static int put(struct op *op, const void *bytes, size_t len)
{
	struct wire_xattr_rep rep = { .len = htole32((uint32_t)len) };

	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, bytes, len);
	return 0;
}

int op_getxattr(struct op *op)
{
	const struct wire_getxattr *body = op->rpc->msg.body;
	struct ns_xattr x = named(op, body->dir);
	char value[WIRE_XATTR_MAX];
	size_t len;
	int rc = ns_getxattr(&op->ns, &x, value, &len);

	return rc ? rc : put(op, value, len);
}

int op_removexattr(struct op *op)
{
	const struct wire_getxattr *body = op->rpc->msg.body;
	struct ns_xattr x = named(op, body->dir);

	return ns_removexattr(&op->ns, &x);
}

int op_listxattr(struct op *op)
{
	const struct wire_path *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	char names[WIRE_XATTR_LIST_MAX];
	size_t len;
	int rc = ns_listxattr(&op->ns, &path, names, &len);

	return rc ? rc : put(op, names, len);
}

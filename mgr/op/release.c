/* SPDX-License-Identifier: BSD-2-Clause */
/* release.c - RELEASE: a writer has finished and reports how far it wrote. */
#include <errno.h>

#include "mgr/op/ops.h"

/* A time in the future would hide later writes. */
static int64_t until_now(const struct op *op, int64_t t)
{
	return t < op->ns.now ? t : op->ns.now;
}

int op_release(struct op *op)
{
	const struct wire_release *body = op->rpc->msg.body;
	struct ns_release_args args = {
		.handle = handle_from_wire(op->mgr->st, body->handle),
		.open = le64toh(body->open),
		.end = le64toh(body->end),
		.mtime = until_now(op, (int64_t)le64toh(body->mtime)),
		.flags = le32toh(body->flags),
	};
	int rc = ns_release(&op->ns, &args);

	/* no reply is recorded: the missing open record shows that the request was executed */
	return rc == -EBADF && request_is_replay(op->req) ? 0 : rc;
}

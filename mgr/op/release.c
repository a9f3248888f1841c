/* SPDX-License-Identifier: BSD-2-Clause */
/* release.c - RELEASE: a writer is done and says how far it wrote. */
#include <errno.h>

#include "ops.h"

int op_release(struct op *op)
{
	const struct wire_release *body = op->rpc->msg.body;
	struct ns_release_args args = {
		.handle = handle_from_wire(op->mgr->st, body->handle),
		.open = le64toh(body->open),
		.end = le64toh(body->end),
		.mtime = (int64_t)le64toh(body->mtime),
		.flags = le32toh(body->flags),
	};
	int rc = ns_release(&op->ns, &args);

	/* no reply is recorded: that the open record is gone says as much */
	return rc == -EBADF && request_is_replay(op->req) ? 0 : rc;
}

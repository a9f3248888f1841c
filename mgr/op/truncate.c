/* SPDX-License-Identifier: BSD-2-Clause */
/* truncate.c - TRUNCATE: recorded, then executed by the iods, then answered. */
#include <errno.h>

#include "mgr/jobs/jobs.h"
#include "mgr/op/ops.h"

struct intent *op_intent(const struct op *op)
{
	struct intent *in = &op->req->intent;

	in->slot = op->rpc->slot;
	in->seq = op->rpc->seq;
	in->op = op->rpc->op;
	in->expiry = op->rpc->expiry;
	in->born = clock_boot();
	in->host = op->mgr->host;
	return in;
}

int op_truncate(struct op *op)
{
	const struct wire_truncate *body = op->rpc->msg.body;
	struct ns_path path = op_path(op, 0, body->dir);
	struct intent *in;
	int rc;

	if (op->ns.truncated)
		return 0;
	in = op_intent(op);
	rc = ns_truncate(&op->ns, &path, le64toh(body->size),
			 le64toh(body->open), in);
	return rc ? rc : in->id ? OP_JOB : 0;
}

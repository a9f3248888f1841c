/* SPDX-License-Identifier: BSD-2-Clause */
/* declare.c - DECLARE: a session tells this run of the manager what it holds. */
#include "mgr/request/caller.h"
#include "mgr/op/ops.h"

static int declare(struct op *op, const struct wire_hold *wire, size_t n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct ns_hold hold = {
			.handle = handle_from_wire(op->mgr->st, wire[i].handle),
			.open = le64toh(wire[i].open),
		};

		rc = ns_declare(&op->ns, &hold);
	}
	return rc;
}

/*
 * A message for an earlier run of the manager is too late: it lacks what the session
 * opened since.
 */
int op_declare(struct op *op)
{
	const struct wire_declare *body = op->rpc->msg.body;
	const struct wire_tail *tail = &op->rpc->msg.tail[0];
	int rc;

	if (le64toh(body->boot) != op->mgr->boot)
		return 0;
	rc = declare(op, tail->ptr, tail->len / sizeof(struct wire_hold));
	if (!rc)
		rc = caller_record_declares(op->mgr, op->rpc->session);
	op->ns.kept = true;
	op->ns.declared = le32toh(body->flags) & WIRE_DC_ALL;
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* append.c - APPEND: reserves a range at the end of a file. */
#include "mgr/op/ops.h"

int op_append(struct op *op)
{
	const struct wire_append *body = op->rpc->msg.body;
	struct wire_append_rep rep;
	uint64_t offset;
	int rc;

	rc = ns_append(&op->ns, handle_from_wire(op->mgr->st, body->handle),
		       le64toh(body->open), le64toh(body->len), &offset);
	if (rc)
		return rc;
	rep.offset = htole64(offset);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

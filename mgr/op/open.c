/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c - OPEN.  With O_TRUNC, the truncation comes first. */
#include <errno.h>

#include "mgr/state/open_paths.h"
#include "mgr/session/caps.h"
#include "mgr/jobs/jobs.h"
#include "mgr/op/ops.h"

static int begin_truncation(struct op *op, const struct inode *ino)
{
	struct ns_path self = { .dir = ino->handle, .path = "" };
	int rc = ns_truncate(&op->ns, &self, 0, 0, op_intent(op));

	return rc ? rc : OP_JOB;
}

int op_open(struct op *op)
{
	const struct wire_open *body = op->rpc->msg.body;
	uint32_t mode = le32toh(body->mode);
	struct ns_open_args args = {
		.path = op_path(op, 0, body->dir),
		.flags = le32toh(body->flags),
		.mode = WIRE_MODE_BITS(mode),
		.base = le32toh(body->dist.base),
		.pcount = le32toh(body->dist.pcount),
		.ssize = le32toh(body->dist.ssize),
	};
	struct wire_open_rep rep;
	struct inode ino;
	uint64_t open;
	bool truncate;
	int rc;

	/* a hold in memory cannot be undone */
	if (args.flags & WIRE_O_HOLD && rpc_req_late(op->rpc))
		return -ETIMEDOUT;
	op->ns.umask = WIRE_MODE_UMASK(mode);
	rc = ns_open(&op->ns, &args, &ino, &open, &truncate);
	if (rc)
		return rc;
	open_paths_note(op->mgr->open_paths,
			handle_to_wire(op->mgr->st, ino.handle), args.path.path,
			args.path.len);
	if (truncate)
		return begin_truncation(op, &ino);
	ns_fill_attr(&op->ns, &ino, &rep.attr);
	rep.open = htole64(open);
	wire_put(op->out, &rep, sizeof(rep));
	return caps_put(op, &rep.attr, args.flags);
}

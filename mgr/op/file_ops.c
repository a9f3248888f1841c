/* SPDX-License-Identifier: BSD-2-Clause */
/* file_ops.c - OPEN, RELEASE, DECLARE, APPEND and TRUNCATE: files and their readers and writers. */
#include <errno.h>

#include "mgr/jobs/jobs.h"
#include "mgr/op/mgr_ops.h"
#include "mgr/request/caller.h"
#include "mgr/session/caps.h"
#include "mgr/state/open_paths.h"

/* ---- OPEN: with O_TRUNC, the truncation comes first ---- */

static int begin_truncation(struct mgr_op *op, const struct inode *ino)
{
	struct ns_path self = { .dir = ino->handle, .path = "" };
	int rc = ns_truncate(&op->ns, &self, 0, 0, op_intent(op));

	return rc ? rc : OP_JOB;
}

int op_open(struct mgr_op *op)
{
	const struct wire_open *body = op->rpc->msg.body;
	uint32_t mode = le32toh(body->mode);
	struct ns_open_args args = {
		.path = op_path(op, 0, body->dir),
		.flags = le32toh(body->flags),
		.mode = WIRE_MODE_BITS(mode),
		.dist = { .base = le32toh(body->dist.base),
			  .pcount = le32toh(body->dist.pcount),
			  .ssize = le32toh(body->dist.ssize) },
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

/* ---- RELEASE: a writer has finished and reports how far it wrote ---- */

/* A time in the future would hide later writes. */
static int64_t until_now(const struct mgr_op *op, int64_t t)
{
	return t < op->ns.now ? t : op->ns.now;
}

int op_release(struct mgr_op *op)
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

/* ---- DECLARE: a session tells this run of the manager what it holds ---- */

static int declare_holds(struct mgr_op *op, const struct wire_hold *wire,
			 size_t n)
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
 * Ignores a DECLARE that was made for an earlier run of the manager: it lacks the files that the
 * session has opened since.
 */
int op_declare(struct mgr_op *op)
{
	const struct wire_declare *body = op->rpc->msg.body;
	const struct wire_tail *tail = &op->rpc->msg.tail[0];
	int rc;

	if (le64toh(body->boot) != op->mgr->boot)
		return 0;
	rc = declare_holds(op, tail->ptr, tail->len / sizeof(struct wire_hold));
	if (!rc)
		rc = caller_record_declares(op->mgr, op->rpc->session);
	op->ns.kept = true;
	op->ns.declared = le32toh(body->flags) & WIRE_DC_ALL;
	return rc;
}

/* ---- APPEND and TRUNCATE ---- */

int op_append(struct mgr_op *op)
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

struct intent *op_intent(const struct mgr_op *op)
{
	struct intent *in = &op->req->intent;

	in->slot = op->rpc->slot;
	in->seq = op->rpc->seq;
	in->op = op->rpc->op;
	in->expiry = op->rpc->expiry;
	in->born = clock_boot();
	in->clock = op->mgr->clock;
	return in;
}

int op_truncate(struct mgr_op *op)
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

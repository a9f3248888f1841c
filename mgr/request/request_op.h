/* SPDX-License-Identifier: BSD-2-Clause */
/* request_op.h - what the operations of the manager share. */
#ifndef REQUEST_OP_H
#define REQUEST_OP_H

#include "mgr/request/request.h"

/* One execution of a request, inside a transaction. */
struct mgr_op {
	struct mgr *mgr;
	struct request *req;
	struct rpc_req *rpc;
	struct wire_out *out; /* for the body of the reply */
	/* an earlier turn of this request has committed a part of it */
	bool begun;
	uint32_t opened; /* the reply has a capability for these WIRE_O_* */
	struct ns_op ns;
};

/* ---- results of an operation, in addition to those in ns.h ---- */

/* req->intent is recorded.  Commit it, let the iods truncate, then continue the request. */
#define OP_JOB 6
/* the connection broke: treat the request as if it had never arrived */
#define OP_ABORT 7
/* the request waits in a struct park, and will be run again */
#define OP_LATER 8

/*
 * Executes the operation and writes the body of the reply to op->out.  Returns 0, -errno,
 * NS_* (ns.h) or OP_*.  If it changed the store, the reply is sent once the change is
 * durable.
 */
typedef int op_fn(struct mgr_op *op);

/* The path in tail item i, below dir. */
static inline struct ns_path op_path(const struct mgr_op *op, unsigned int i,
				     uint64_t wire_dir)
{
	const struct wire_tail *tail = &op->rpc->msg.tail[i];

	return (struct ns_path){ handle_from_wire(op->mgr->st, wire_dir),
				 tail->ptr, tail->len };
}

#endif

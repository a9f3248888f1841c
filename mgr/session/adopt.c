/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adopt.c - ADOPT and ADOPTED: a session takes over from a previous one, which then
 * ends as if it had timed out.
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/session/adopt.h"
#include "mgr/session/evict.h"
#include "mgr/session/session_table.h"

struct adopts {
	struct park park;
	bool woken;
};

static uint32_t uid_of(const struct mgr_op *op)
{
	return rpc_session_info(op->rpc->session)->cred.uid;
}

int op_adopt(struct mgr_op *op)
{
	const struct wire_adopt *body = op->rpc->msg.body;
	struct ns_adopt_args args = {
		.session = le64toh(body->session),
		.handle = handle_from_wire(op->mgr->st, body->handle),
		.open = le64toh(body->open),
		.owner = le64toh(body->owner),
		.uid = uid_of(op),
		.process = le32toh(body->flags) & WIRE_AD_PROCESS,
	};
	struct wire_adopt_rep rep = { 0 };
	uint32_t done;
	int rc;

	/* its rows may still be unchanged */
	if (eviction_includes(op->mgr, args.session))
		return -ESTALE;
	rc = ns_adopt(&op->ns, &args, &done);
	if (rc)
		return rc;
	rep.flags = htole32(done);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

static void on_late(struct park *park, struct request *req)
{
	answer_late(req, "the iods to hear that a session has ended");
}

int adopts_open(struct mgr *mgr)
{
	mgr->adopts = calloc(1, sizeof(*mgr->adopts));
	if (!mgr->adopts)
		return -ENOMEM;
	park_init(&mgr->adopts->park, RPC_QUEUE, on_late);
	return 0;
}

void adopts_close(struct mgr *mgr)
{
	free(mgr->adopts);
	mgr->adopts = NULL;
}

void adopts_wake(struct mgr *mgr)
{
	mgr->adopts->woken = true;
}

void adopts_run(struct mgr *mgr)
{
	struct request *req;

	if (!mgr->adopts->woken)
		return;
	mgr->adopts->woken = false;
	while ((req = park_take(&mgr->adopts->park)))
		request_requeue(req);
}

/* The iods are told about a fenced session; then session_end_fenced() is called. */
int op_adopted(struct mgr_op *op)
{
	const struct wire_adopted *body = op->rpc->msg.body;
	uint64_t id = le64toh(body->session);
	struct session_rec rec;
	int rc = ns_may_adopt(&op->ns, id, uid_of(op));

	if (rc == -EPERM)
		return rc;
	if (!rc)
		session_end_soon(op->mgr, id);
	else if (rc != -ESTALE || session_get(op->mgr->st, id, &rec) ||
		 !(rec.flags & SESSION_FENCED))
		return rc == -ESTALE ? 0 : rc;
	park_wait(&op->mgr->adopts->park, op->req);
	return OP_LATER;
}

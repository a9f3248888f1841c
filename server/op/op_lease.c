/* SPDX-License-Identifier: BSD-2-Clause */
/* op_lease.c - LEASE: extends the time for which the iod may work without its manager. */
#include "server/wait/lease.h"
#include "server/op/op.h"
#include "server/wait/ready.h"

void op_lease(struct worker *w, struct rpc_req *req)
{
	const struct wire_lease *body = req->msg.body;

	if (req->msg.body_len ==
	    /* a manager of version 2 gives no tickets, so it sends no clock */
	    sizeof(*body))
		terms_hear(&w->iod->terms, session_of(req)->term,
			   le64toh(body->since), le64toh(body->clock));
	loan_table_expire(w->iod->loans);
	lease_renew(w->iod, le64toh(body->until));
	rpc_reply_status(req, 0);
	ready_say(w->iod);
}

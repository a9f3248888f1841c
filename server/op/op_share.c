/* SPDX-License-Identifier: BSD-2-Clause */
/* op_share.c - SHARE: tells a client where the shared blocks lie, for RDMA Reads. */
#include "server/op/op.h"
#include "server/state/shares.h"

void op_share(struct worker *w, struct rpc_req *req)
{
	struct wire_share_rep rep;
	int rc = shares_place(w->iod, req, &rep);

	if (rc)
		rpc_reply_status(req, rc);
	else
		op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

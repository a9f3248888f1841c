/* SPDX-License-Identifier: BSD-2-Clause */
/* op_disk.c - DISK: identifies the file system, so that iods that share one are recognised. */
#include "server/op/op.h"

void op_disk(struct worker *w, struct rpc_req *req)
{
	struct wire_disk_rep rep = {
		.disk = htole64(store_disk(w->iod->store)),
	};

	op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* op_getsize.c - GETSIZE: local sizes of up to WIRE_HANDLE_MAX objects. */
#include "op.h"

void op_getsize(struct worker *w, struct rpc_req *req)
{
	const struct wire_objects *body = req->msg.body;
	const le64 *handle = req->msg.tail[0].ptr;
	struct wire_objsize size[WIRE_HANDLE_MAX];
	uint32_t i, n = le32toh(body->n);
	struct wire_getsize_rep rep = { .n = htole32(n) };
	struct store_stat st;
	int rc;

	for (i = 0; i < n; i++) {
		rc = store_stat(w->iod->store, le64toh(handle[i]), &st);
		if (rc) {
			rpc_reply_status(req, rc);
			return;
		}
		size[i].size = htole64(st.size);
		size[i].blocks = htole64(st.blocks);
		size[i].mtime = htole64(st.mtime);
	}
	op_reply(req, &rep, sizeof(rep), size, n * sizeof(size[0]),
		 RPC_REEXECUTE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* op_statfs.c - STATFS: space of the file system that holds the store. */
#include "server/op/op.h"

void op_statfs(struct worker *w, struct rpc_req *req)
{
	struct wire_statfs_rep rep;
	struct statvfs fs;
	int rc;

	rc = store_statfs(w->iod->store, &fs);
	if (rc) {
		rpc_reply_status(req, rc);
		return;
	}
	rep = (struct wire_statfs_rep){
		.bsize = htole64(fs.f_frsize),
		.blocks = htole64(fs.f_blocks),
		.bfree = htole64(fs.f_bfree),
		.bavail = htole64(fs.f_bavail),
		.files = htole64(fs.f_files),
		.ffree = htole64(fs.f_ffree),
	};
	op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

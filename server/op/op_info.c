/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_info.c - PING, STATFS and DISK: the version of the iod, and the space and identity of its
 * file system.
 */
#include <string.h>

#include "common/util/clock.h"
#include "server/op/op_int.h"

void op_ping(struct worker *w, struct rpc_req *req)
{
	struct rpc_server_stats stats;
	struct wire_ping_rep rep;

	rpc_server_stats(w->iod->server, &stats);
	rep = (struct wire_ping_rep){
		.boot = htole64(w->iod->boot),
		.uptime_ns = htole64(clock_now() - w->iod->started),
		.requests = htole64(stats.requests),
		.sessions = htole64(stats.sessions),
		.version_len = htole32(strlen(PVFS_VERSION)),
	};
	op_reply(req, &rep, sizeof(rep), PVFS_VERSION, strlen(PVFS_VERSION),
		 RPC_REEXECUTE);
}

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

/* Iods that share a file system are recognised by it. */
void op_disk(struct worker *w, struct rpc_req *req)
{
	struct wire_disk_rep rep = {
		.disk = htole64(store_disk(w->iod->store)),
	};

	op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

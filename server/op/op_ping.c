/* SPDX-License-Identifier: BSD-2-Clause */
/* op_ping.c - PING: version, boot number and uptime of the iod. */
#include <string.h>

#include "common/util/clock.h"
#include "server/op/op.h"

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

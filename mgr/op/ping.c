/* SPDX-License-Identifier: BSD-2-Clause */
/* ping.c - PING: version, uptime and load. */
#include <string.h>

#include "mgr/op/ops.h"

int op_ping(struct op *op)
{
	struct mgr *mgr = op->mgr;
	struct rpc_server_stats stats;
	struct wire_ping_rep rep;

	rpc_server_stats(mgr->server, &stats);
	rep = (struct wire_ping_rep){
		.boot = htole64(mgr->boot),
		.uptime_ns = htole64(clock_now() - mgr->started),
		.requests = htole64(stats.requests),
		.sessions = htole64(stats.sessions),
		.version_len = htole32(strlen(PVFS_VERSION)),
	};
	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, PVFS_VERSION, strlen(PVFS_VERSION));
	return 0;
}

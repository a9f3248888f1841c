/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc.c - a progress context and all that runs on it. */
#include "common/comm/rpc.h"

#include "common/comm/call/call_ctx.h"
#include "common/comm/progress/ctx.h"

int rpc_ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **out)
{
	struct rpc_ctx *ctx;
	int rc = ctx_open(attr, &ctx);

	if (rc)
		return rc;
	rc = calls_open(ctx, attr);
	if (rc) {
		ctx_close(ctx);
		return rc;
	}
	*out = ctx;
	return 0;
}

void rpc_ctx_close(struct rpc_ctx *ctx)
{
	ctx_settle(ctx);
	calls_close(ctx);
	ctx_close(ctx);
}

int rpc_server_try(const struct fabric *fabric, const struct addr *addr)
{
	struct rpc_ctx_attr ca = { .fabric = fabric };
	struct rpc_server_attr attr = { .nctx = 1, .addr = *addr };
	struct rpc_server *server;
	struct rpc_ctx *ctx;
	int rc = rpc_ctx_open(&ca, &ctx);

	if (rc)
		return rc;
	attr.ctx = &ctx;
	rc = rpc_server_open(&attr, &server);
	if (!rc)
		rpc_server_close(server);
	rpc_ctx_close(ctx);
	return rc;
}

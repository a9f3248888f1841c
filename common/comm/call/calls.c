/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - calls on a progress context: see call.h. */
#include "common/comm/call/call.h"

#include "common/comm/call/lookup_int.h"
#include "common/comm/call/peer_int.h"

static const struct ctx_calls calls = { .passed = call_passed,
					.join = call_join };

int calls_open(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr)
{
	way_limits(ctx, attr);
	ctx->calls = &calls;
	return lookup_open(ctx);
}

void calls_close(struct rpc_ctx *ctx)
{
	lookup_close(ctx);
	ways_report(ctx);
}

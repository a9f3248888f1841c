/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join.c - whose answers end a sleep.  Each wake-up costs more than what there is
 * to do about the answer of one server while those of others are missing; so
 * where all that is under way is one operation, and the servers move its data,
 * only the last answer has to wake us up.
 */
#include "peer.h"

static bool all_joined(struct rpc_ctx *ctx)
{
	const struct rpc_call *call, *first = TAILQ_FIRST(&ctx->calls);

	if (ctx->carry) /* any of them may want us to move its data */
		return false;
	TAILQ_FOREACH(call, &ctx->calls, p.timeout_link)
		if (!call->joined || call->joined != first->joined ||
		    !call->p.moving)
			return false;
	return true;
}

void ctx_join(struct rpc_ctx *ctx)
{
	struct rpc_call *call;

	if (!all_joined(ctx))
		return;
	TAILQ_FOREACH(call, &ctx->calls, p.timeout_link)
		if (call->p.peer->link.ep)
			tp_ep_join(call->p.peer->link.ep);
}

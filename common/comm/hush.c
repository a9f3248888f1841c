/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hush.c - whose answers end a sleep.  Each wake-up costs more than what there is
 * to do about the answer of one server while those of others are missing; so
 * where all that is under way is one operation, and the servers move its data,
 * only the one that was asked last has to wake us up.  Once it did, that is the
 * last of those whose answers are still missing.
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

void ctx_hush(struct rpc_ctx *ctx)
{
	const struct rpc_call *last = TAILQ_LAST(&ctx->calls, rpc_calls);
	bool joined = all_joined(ctx);
	struct rpc_call *call;

	TAILQ_FOREACH(call, &ctx->calls, p.timeout_link) {
		struct link *link = &call->p.peer->link;

		if (link->ep)
			tp_ep_hush(link->ep,
				   joined && call->p.peer != last->p.peer);
	}
}

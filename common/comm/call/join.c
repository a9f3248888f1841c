/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join.c - which answers end a sleep.  While answers of other servers are missing, each wake-up
 * costs more than handling the answer.  If all calls in flight belong to one operation, and the
 * servers move its data, only the last answer has to wake this thread.
 */
#include "common/comm/call/peer_int.h"

static struct rpc_call *call_of(struct rpc_due *due)
{
	return container_of(due, struct rpc_call, p.due);
}

static bool all_joined(struct rpc_ctx *ctx)
{
	const void *joined = NULL;
	struct rpc_due *due;

	if (ctx->carry) /* any of them may ask us to move its data */
		return false;
	TAILQ_FOREACH(due, &ctx->dues, link) {
		const struct rpc_call *call = call_of(due);

		if (!joined)
			joined = call->joined;
		if (!joined || call->joined != joined || !call->p.moving)
			return false;
	}
	return true;
}

void call_join(struct rpc_ctx *ctx)
{
	struct rpc_due *due;

	if (!all_joined(ctx))
		return;
	TAILQ_FOREACH(due, &ctx->dues, link) {
		const struct rpc_peer *peer = call_of(due)->p.peer;

		if (peer->link.ep)
			tp_ep_join(peer->link.ep);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.c - timers and call deadlines, two lists sorted by time.  Deadlines
 * grow with the time of their making, so inserting from the tail is O(1)
 * nearly always.
 */
#include "ctx.h"

void rpc_timer_set(struct rpc_ctx *ctx, struct rpc_timer *timer, uint64_t at)
{
	struct rpc_timer *prev;

	rpc_timer_clear(ctx, timer);
	TAILQ_FOREACH_REVERSE(prev, &ctx->timers, rpc_timers, link)
	{
		if (prev->at <= at)
			break;
	}
	timer->at = at;
	timer->armed = true;
	if (prev)
		TAILQ_INSERT_AFTER(&ctx->timers, prev, timer, link);
	else
		TAILQ_INSERT_HEAD(&ctx->timers, timer, link);
}

void rpc_timer_clear(struct rpc_ctx *ctx, struct rpc_timer *timer)
{
	if (!timer->armed)
		return;
	timer->armed = false;
	TAILQ_REMOVE(&ctx->timers, timer, link);
}

void timer_add_call(struct rpc_ctx *ctx, struct rpc_call *call)
{
	struct rpc_call *prev;

	TAILQ_FOREACH_REVERSE(prev, &ctx->calls, rpc_calls, p.timeout_link)
	{
		if (prev->deadline <= call->deadline)
			break;
	}
	if (prev)
		TAILQ_INSERT_AFTER(&ctx->calls, prev, call, p.timeout_link);
	else
		TAILQ_INSERT_HEAD(&ctx->calls, call, p.timeout_link);
}

uint64_t timer_next(const struct rpc_ctx *ctx)
{
	const struct rpc_timer *timer = TAILQ_FIRST(&ctx->timers);
	const struct rpc_call *call = TAILQ_FIRST(&ctx->calls);
	uint64_t next = timer ? timer->at : CLOCK_NEVER;

	return call && call->deadline < next ? call->deadline : next;
}

int timer_run(struct rpc_ctx *ctx)
{
	struct rpc_timer *timer;
	int n = 0;

	while ((timer = TAILQ_FIRST(&ctx->timers)) && timer->at <= ctx->now) {
		rpc_timer_clear(ctx, timer);
		timer->fire(timer);
		n++;
	}
	return n + call_expire(ctx);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.c - timers and deadlines of calls, two lists sorted by time.  Deadlines
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

void timer_add_due(struct rpc_ctx *ctx, struct rpc_due *due, uint64_t at)
{
	struct rpc_due *prev;

	TAILQ_FOREACH_REVERSE(prev, &ctx->dues, rpc_dues, link)
	{
		if (prev->at <= at)
			break;
	}
	due->at = at;
	if (prev)
		TAILQ_INSERT_AFTER(&ctx->dues, prev, due, link);
	else
		TAILQ_INSERT_HEAD(&ctx->dues, due, link);
}

uint64_t timer_next(const struct rpc_ctx *ctx)
{
	const struct rpc_timer *timer = TAILQ_FIRST(&ctx->timers);
	const struct rpc_due *due = TAILQ_FIRST(&ctx->dues);
	uint64_t next = timer ? timer->at : CLOCK_NEVER;

	return due && due->at < next ? due->at : next;
}

int timer_run(struct rpc_ctx *ctx)
{
	struct rpc_timer *timer;
	struct rpc_due *due;
	int n = 0;

	while ((timer = TAILQ_FIRST(&ctx->timers)) && timer->at <= ctx->now) {
		rpc_timer_clear(ctx, timer);
		timer->fire(timer);
		n++;
	}
	while ((due = TAILQ_FIRST(&ctx->dues)) && due->at <= ctx->now) {
		ctx->calls->passed(due);
		n++;
	}
	return n;
}

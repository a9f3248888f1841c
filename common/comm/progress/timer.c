/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer.c - timers and deadlines of calls.  The timers are a pairing heap (Fredman, Sedgewick,
 * Sleator, Tarjan: "The pairing heap", Algorithmica 1, 1986).  A server has a distant timer for
 * each session without a connection.  It also sets near timers all the time, most of which never
 * fire.  Deadlines mostly increase in the order of the calls, so inserting into a sorted list of
 * them from its tail is nearly always O(1).
 *
 * prev of a timer is the previous sibling, or the parent for the first child; NULL for the root.
 */
#include "common/comm/progress/ctx.h"

static struct rpc_timer *meld_heaps(struct rpc_timer *a, struct rpc_timer *b)
{
	struct rpc_timer *later;

	if (!a || !b)
		return a ? a : b;
	later = b->at < a->at ? a : b;
	if (later == a)
		a = b;
	later->prev = a;
	later->next = a->child;
	if (later->next)
		later->next->prev = later;
	a->child = later;
	return a;
}

/* Removes the first timer from a list. */
static struct rpc_timer *take_first(struct rpc_timer **list)
{
	struct rpc_timer *first = *list;

	if (!first)
		return NULL;
	*list = first->next;
	first->next = first->prev = NULL;
	return first;
}

/* Melds the list in pairs, then melds the pairs from the last to the first. */
static struct rpc_timer *meld_all(struct rpc_timer *list)
{
	struct rpc_timer *pairs = NULL, *root = NULL, *first, *pair;

	while ((first = take_first(&list))) {
		pair = meld_heaps(first, take_first(&list));
		pair->next = pairs;
		pairs = pair;
	}
	while ((pair = take_first(&pairs)))
		root = meld_heaps(root, pair);
	return root;
}

static void unlink_timer(struct rpc_timer *timer)
{
	if (timer->prev->child == timer)
		timer->prev->child = timer->next;
	else
		timer->prev->next = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
}

void rpc_timer_set(struct rpc_ctx *ctx, struct rpc_timer *timer, uint64_t at)
{
	rpc_timer_clear(ctx, timer);
	timer->at = at;
	timer->armed = true;
	timer->child = timer->next = timer->prev = NULL;
	ctx->timers = meld_heaps(ctx->timers, timer);
}

void rpc_timer_clear(struct rpc_ctx *ctx, struct rpc_timer *timer)
{
	struct rpc_timer *rest;

	if (!timer->armed)
		return;
	timer->armed = false;
	rest = meld_all(timer->child);
	if (timer == ctx->timers) {
		ctx->timers = rest;
		return;
	}
	unlink_timer(timer);
	ctx->timers = meld_heaps(ctx->timers, rest);
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
	const struct rpc_timer *timer = ctx->timers;
	const struct rpc_due *due = TAILQ_FIRST(&ctx->dues);
	uint64_t next = timer ? timer->at : CLOCK_NEVER;

	return due && due->at < next ? due->at : next;
}

int timer_run(struct rpc_ctx *ctx)
{
	struct rpc_timer *timer;
	struct rpc_due *due;
	int n = 0;

	while ((timer = ctx->timers) && timer->at <= ctx->now) {
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

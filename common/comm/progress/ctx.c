/* SPDX-License-Identifier: BSD-2-Clause */
/* ctx.c - the progress loop: poll, dispatch, spin a little, sleep. */
#include "common/comm/progress/ctx.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define CTX_DRAIN 8 /* batches in a round */

int ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **out)
{
	const struct rails one = { .dev = { attr->dev }, .n = 1 };
	struct rpc_ctx *ctx = calloc(1, sizeof(*ctx));
	int rc = -ENOMEM;

	if (!ctx)
		return -ENOMEM;
	ctx->wr = calloc(CTX_WR_MAX, sizeof(*ctx->wr));
	ctx->sge = calloc(CTX_SGE_MAX, sizeof(*ctx->sge));
	if (!ctx->wr || !ctx->sge)
		goto free_ctx;
	ctx->fabric = attr->fabric;
	rc = ctx_rails_open(ctx, attr->fabric ? &attr->fabric->rails : &one);
	if (rc)
		goto free_ctx;
	rc = rails_pins_open(&ctx->rails, attr->pins, attr->log);
	if (rc)
		goto close_rails;
	ctx->log = attr->log;
	ctx->apart = attr->apart;
	ctx->carry = attr->carry;
	ctx->carry_parts = attr->carry_parts ? attr->carry_parts
					     : CTX_CARRY_PARTS;
	spin_init(&ctx->spin, attr->poll_us, attr->far_us);
	ctx->now = clock_now();
	TAILQ_INIT(&ctx->dues);
	TAILQ_INIT(&ctx->tasks);
	SLIST_INIT(&ctx->hooks);
	SLIST_INIT(&ctx->listeners);
	*out = ctx;
	return 0;
close_rails:
	ctx_rails_close(ctx);
free_ctx:
	free(ctx->sge);
	free(ctx->wr);
	free(ctx);
	return rc;
}

/*
 * Runs the tasks that were deferred before; tasks deferred meanwhile wait for the next round.
 */
static int ctx_tasks(struct rpc_ctx *ctx)
{
	struct ctx_task *task, *last = TAILQ_LAST(&ctx->tasks, ctx_tasks);
	int n = 0;

	while ((task = TAILQ_FIRST(&ctx->tasks))) {
		bool end = task == last;

		ctx_undefer(ctx, task);
		task->run(task);
		n++;
		if (end)
			break;
	}
	return n;
}

void ctx_settle(struct rpc_ctx *ctx)
{
	while (ctx_tasks(ctx))
		;
}

void ctx_close(struct rpc_ctx *ctx)
{
	rails_pins_close(&ctx->rails, ctx->log);
	ctx_rails_close(ctx);
	free(ctx->sge);
	free(ctx->wr);
	free(ctx);
}

const struct rails *rpc_ctx_rails(const struct rpc_ctx *ctx)
{
	return &ctx->rails;
}

void ctx_defer(struct rpc_ctx *ctx, struct ctx_task *task)
{
	if (task->queued)
		return;
	task->queued = true;
	TAILQ_INSERT_TAIL(&ctx->tasks, task, link);
}

void ctx_undefer(struct rpc_ctx *ctx, struct ctx_task *task)
{
	if (!task->queued)
		return;
	task->queued = false;
	TAILQ_REMOVE(&ctx->tasks, task, link);
}

void ctx_hook_add(struct rpc_ctx *ctx, struct ctx_hook *hook)
{
	SLIST_INSERT_HEAD(&ctx->hooks, hook, link);
}

void ctx_hook_remove(struct rpc_ctx *ctx, struct ctx_hook *hook)
{
	SLIST_REMOVE(&ctx->hooks, hook, ctx_hook, link);
}

void ctx_hook_raise(struct rpc_ctx *ctx, struct ctx_hook *hook)
{
	atomic_store(&hook->pending, true);
	rpc_ctx_wake(ctx);
}

static int ctx_hooks(struct rpc_ctx *ctx)
{
	struct ctx_hook *hook;
	int n = 0;

	SLIST_FOREACH(hook, &ctx->hooks, link)
	{
		if (!atomic_load_explicit(&hook->pending, memory_order_relaxed))
			continue;
		atomic_store(&hook->pending, false);
		hook->run(hook);
		n++;
	}
	return n;
}

static void ctx_complete(struct rpc_ctx *ctx, const struct tp_wc *wc)
{
	struct rpc_link *link = wc->ep ? tp_ep_context(wc->ep) : NULL;

	if (link && link != ctx->lone)
		spin_crowd(&ctx->spin);
	if (link)
		ctx->lone = link;
	if (wc->srq) {
		struct ctx_shared *shared = tp_srq_context(wc->srq);

		shared->received(shared, link, wc);
	} else if (link) {
		link->ops->completion(link, wc);
	}
}

/* link_close() removes the completions of its endpoint from the batch. */
static int ctx_drain(struct rpc_ctx *ctx, struct tp_cq *cq)
{
	int total = 0, i;

	for (i = 0; i < CTX_DRAIN; i++) {
		ctx->wc_n = tp_cq_poll(cq, ctx->wc, CTX_BATCH);
		total += ctx->wc_n;
		for (ctx->wc_at = 0; ctx->wc_at < ctx->wc_n;)
			ctx_complete(ctx, &ctx->wc[ctx->wc_at++]);
		if (ctx->wc_n < CTX_BATCH)
			break;
	}
	ctx->wc_n = 0;
	return total;
}

static int ctx_completions(struct rpc_ctx *ctx)
{
	int total = 0, n;
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		if (!ctx_rail_due(ctx, i))
			continue;
		n = ctx_drain(ctx, ctx->rail[i].cq);
		if (n)
			ctx->rail[i].dull = 0;
		total += n;
	}
	return total;
}

static void ctx_connect_request(struct rpc_ctx *ctx, const struct tp_event *ev)
{
	struct ctx_listener *l;

	SLIST_FOREACH(l, &ctx->listeners, link)
	{
		if (l->listener == ev->listener) {
			l->request(l, ev->req);
			return;
		}
	}
	tp_reject(ev->req, NULL, 0);
}

static void ctx_event(struct rpc_ctx *ctx, const struct tp_event *ev)
{
	struct ctx_shared *shared;
	struct rpc_link *link;

	switch (ev->type) {
	case TP_EV_CONNECT_REQUEST:
		ctx_connect_request(ctx, ev);
		break;
	case TP_EV_SRQ_LIMIT:
		shared = tp_srq_context(ev->srq);
		shared->low(shared);
		break;
	default:
		link = tp_ep_context(ev->ep);
		link->ops->event(link, ev);
	}
}

static int ctx_rail_events(struct rpc_ctx *ctx, unsigned int rail)
{
	struct tp_event ev;
	int n = 0;

	while (tp_cq_event(ctx->rail[rail].cq, &ev) == 1) {
		n++;
		ctx_event(ctx, &ev);
	}
	return n;
}

static int ctx_events(struct rpc_ctx *ctx)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < ctx->rails.n; i++) {
		if (ctx_rail_used(ctx, i))
			n += ctx_rail_events(ctx, i);
	}
	return n;
}

/*
 * Called before calls time out.  This thread may not have polled for long, and replies may have
 * arrived in time, so polls again.  Arming makes a provider do a check that it skips otherwise.
 */
static int ctx_late(struct rpc_ctx *ctx)
{
	const struct rpc_due *due = TAILQ_FIRST(&ctx->dues);

	if (!due || due->at > ctx->now)
		return 0;
	ctx_rails_arm(ctx);
	return ctx_completions(ctx);
}

static int ctx_round(struct rpc_ctx *ctx)
{
	int n;

	ctx->now = clock_now();
	n = ctx_hooks(ctx);
	n += ctx_completions(ctx);
	n += ctx_late(ctx);
	n += ctx_events(ctx);
	n += timer_run(ctx);
	n += ctx_tasks(ctx);
	return n;
}

static bool ctx_woken(struct rpc_ctx *ctx)
{
	return atomic_load_explicit(&ctx->woken, memory_order_relaxed) &&
	       atomic_exchange(&ctx->woken, false);
}

/* Sleeps unless a task is pending. */
static void ctx_sleep(struct rpc_ctx *ctx, uint64_t deadline)
{
	uint64_t next = timer_next(ctx);

	if (!TAILQ_EMPTY(&ctx->tasks))
		return;
	ctx->calls->join(ctx);
	ctx_rails_wait(ctx, next < deadline ? next : deadline);
}

/* Chooses by the bytes in flight and the bytes moved since the last wait. */
static enum spin_for ctx_waits_for(struct rpc_ctx *ctx)
{
	uint64_t moved = ctx->moved;

	ctx->moved = 0;
	if (ctx->moving > CTX_MUCH)
		return SPIN_NOTHING_SOON;
	return moved > CTX_LITTLE ? SPIN_ANYTHING : SPIN_LITTLE;
}

/* Called when this thread begins to drive: rpc_ctx_wake() need not wake a sleeping thread now. */
static void ctx_awake(struct rpc_ctx *ctx)
{
	if (atomic_load_explicit(&ctx->sleeping, memory_order_relaxed))
		atomic_store(&ctx->sleeping, 0);
}

uint64_t rpc_ctx_progressed(const struct rpc_ctx *ctx)
{
	return ctx->now;
}

int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline)
{
	bool waits = false;
	int n;

	ctx_awake(ctx);
	for (;;) {
		n = ctx_round(ctx);
		if (n > 0 || ctx_woken(ctx)) {
			if (waits)
				spin_end(&ctx->spin, ctx->now);
			return n;
		}
		if (ctx->now >= deadline)
			return 0;
		if (!waits)
			spin_begin(&ctx->spin, ctx->now, ctx_waits_for(ctx));
		waits = true;
		if (spin_again(&ctx->spin, ctx->now))
			sched_yield();
		else
			ctx_sleep(ctx, deadline);
	}
}

int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *nfds,
		 uint64_t *until)
{
	int n;

	ctx_awake(ctx);
	n = ctx_round(ctx);
	if (n > 0)
		return n;
	if (!TAILQ_EMPTY(&ctx->tasks) || !ctx_rails_rest(ctx, fd, nfds))
		return 1;
	*until = timer_next(ctx);
	return 0;
}

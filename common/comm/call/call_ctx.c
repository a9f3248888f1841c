/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_ctx.c - calls on a progress context: which answers end its sleep, and counts of the ways in
 * which payload was transferred.
 */
#include "common/comm/call/call_ctx.h"

#include <inttypes.h>

#include "common/comm/call/call_int.h"

static struct rpc_call *call_of(struct rpc_due *due)
{
	return container_of(due, struct rpc_call, p.due);
}

static bool is_one_operation(struct rpc_ctx *ctx)
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

/*
 * A wake-up costs more than handling an answer.  If all calls in flight belong to one operation,
 * and the servers move its data, only the last answer has to wake this thread.
 */
static void wait_for_last(struct rpc_ctx *ctx)
{
	struct rpc_due *due;

	if (!is_one_operation(ctx))
		return;
	TAILQ_FOREACH(due, &ctx->dues, link) {
		const struct rpc_peer *peer = call_of(due)->p.peer;

		if (peer->link.ep)
			tp_ep_join(peer->link.ep);
	}
}

static uint64_t count_of(const struct ctx_rail *r, enum payload_path path)
{
	return atomic_load_explicit(&r->payloads[path], memory_order_relaxed);
}

static struct rpc_payload_counts rail_counts(const struct ctx_rail *r)
{
	return (struct rpc_payload_counts){
		.inlined = count_of(r, PAYLOAD_INLINE),
		.fast = count_of(r, PAYLOAD_FAST_WRITE) +
			count_of(r, PAYLOAD_FAST_READ),
		.direct = count_of(r, PAYLOAD_DIRECT),
		.whole = atomic_load_explicit(&r->whole, memory_order_relaxed),
	};
}

void rpc_ctx_payload_counts(const struct rpc_ctx *ctx,
			    struct rpc_payload_counts *counts)
{
	unsigned int i;

	*counts = (struct rpc_payload_counts){ 0 };
	for (i = 0; i < ctx->rails.n; i++) {
		struct rpc_payload_counts r = rail_counts(&ctx->rail[i]);

		counts->inlined += r.inlined;
		counts->fast += r.fast;
		counts->direct += r.direct;
		counts->whole += r.whole;
	}
}

static void log_payload_counts(const struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		struct rpc_payload_counts r = rail_counts(&ctx->rail[i]);

		if (r.inlined + r.fast + r.direct)
			log_info(ctx->log,
				 "%s: data of %" PRIu64 " requests went in a "
				 "message, of %" PRIu64 " by Fast RDMA, of "
				 "%" PRIu64 " was left to the server, %" PRIu64
				 " of these ended without a reply",
				 tp_dev_name(ctx->rails.dev[i]), r.inlined,
				 r.fast, r.direct, r.whole);
	}
}

static const struct ctx_calls calls = { .passed = call_deadline_passed,
					.join = wait_for_last };

int calls_open(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr)
{
	payload_set_limits(ctx, attr);
	ctx->calls = &calls;
	return host_lookup_open(ctx);
}

void calls_close(struct rpc_ctx *ctx)
{
	host_lookup_close(ctx);
	log_payload_counts(ctx);
}

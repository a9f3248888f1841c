/* SPDX-License-Identifier: BSD-2-Clause */
/* ways.c - how often the payload of calls went each way. */
#include <inttypes.h>

#include "common/comm/call/peer_int.h"

static void add(atomic_uint_least64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* A call that reads or writes and names no memory has its payload in a message. */
void way_count(struct rpc_peer *peer, const struct peer_slot *s,
	       const struct wire_hdr *hdr, enum way way)
{
	unsigned int op = le16toh(hdr->op);

	if (!wire_op_reads(op) && !wire_op_writes(op))
		return;
	if (!s->nareas)
		way = WAY_INLINE;
	add(&peer->link.ctx->rail[peer->link.rail].ways[way]);
}

void way_count_whole(struct rpc_peer *peer)
{
	add(&peer->link.ctx->rail[peer->link.rail].whole);
}

static uint64_t counted(const struct ctx_rail *r, enum way way)
{
	return atomic_load_explicit(&r->ways[way], memory_order_relaxed);
}

static struct rpc_ways rail_ways(const struct ctx_rail *r)
{
	return (struct rpc_ways){
		.inlined = counted(r, WAY_INLINE),
		.fast = counted(r, WAY_FAST_WRITE) + counted(r, WAY_FAST_READ),
		.direct = counted(r, WAY_KEYS),
		.whole = atomic_load_explicit(&r->whole, memory_order_relaxed),
	};
}

void rpc_ctx_ways(const struct rpc_ctx *ctx, struct rpc_ways *ways)
{
	unsigned int i;

	*ways = (struct rpc_ways){ 0 };
	for (i = 0; i < ctx->rails.n; i++) {
		struct rpc_ways r = rail_ways(&ctx->rail[i]);

		ways->inlined += r.inlined;
		ways->fast += r.fast;
		ways->direct += r.direct;
		ways->whole += r.whole;
	}
}

void ways_report(const struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		struct rpc_ways r = rail_ways(&ctx->rail[i]);

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

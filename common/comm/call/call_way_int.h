/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_way_int.h - how the payload of a request goes.  The caller names memory;
 * each time that the request goes out a way is chosen, by its size, the
 * connection, and whether a buffer is free (ICPP 2003, sections 3.4 and 4.1):
 *
 *   INLINE      a write, up to inline_max: behind the message, in one Send
 *   FAST_WRITE  a write, up to fast_max, where memory is pinned: behind the
 *               message, by RDMA Write into a buffer of the server's; from
 *               the caller's memory if that is registered, or has been copied
 *               from often and may be kept (often_int.h); else copied
 *   FAST_READ   a read, up to fast_max, into memory that is not registered
 *               where that would be pinned: into a buffer of ours
 *   KEYS        the server reads or writes the caller's memory
 */
#ifndef CALL_WAY_INT_H
#define CALL_WAY_INT_H

#include "common/comm/progress/ctx.h"
#include "common/buffer/fast.h"
#include "common/comm/call/often_int.h"
#include "common/comm/call/rpc_call.h"

#define WAY_INLINE_FAST 4096u /* bytes, where there is Fast RDMA */
#define WAY_INLINE_MAX WIRE_INLINE_MAX /* else */
#define WAY_PIECES 16u /* of a FAST_READ */
#define WAY_IN_PLACE 8u /* pieces of a FAST_WRITE that is not copied */

struct rpc_peer;
struct peer_slot;

enum way { WAY_KEYS, WAY_INLINE, WAY_FAST_WRITE, WAY_FAST_READ };
_Static_assert(WAY_FAST_READ < CTX_WAYS, "room to count all ways");

/* The buffers of a connection; part of struct rpc_peer. */
struct peer_fast {
	struct fast *own; /* NULL: not needed yet */
	struct fast_peer theirs;
	uint32_t busy; /* numbers, for both ends */
	struct often often; /* sources that were copied */
	bool asked; /* for theirs, on this connection */
	struct ctx_task ask;
	struct rpc_call call;
};

void way_init(struct rpc_peer *peer);
/* inline_max and fast_max of each rail. */
void way_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* Chooses for the slot, and takes a buffer if it needs one. */
enum way way_choose(struct rpc_peer *peer, struct peer_slot *s,
		    const struct wire_hdr *hdr);
/*
 * The gather entries of the payload behind the message, at most RPC_DATA_MAX:
 * how many, or -EFAULT: the caller's memory is not there.  *in_place: it is
 * read until the request has left.
 */
int way_gather(struct rpc_peer *peer, struct peer_slot *s, enum way way,
	       struct tp_sge *sge, bool *in_place);
/* FAST_READ: names our buffer in the message instead of the memory. */
void way_bounce(struct rpc_peer *peer, struct peer_slot *s);
/* Where FAST_READ's bytes are, or NULL. */
const void *way_landed(const struct rpc_peer *peer, const struct peer_slot *s);
/*
 * A reply that was written behind such bytes (wire_imm()): copied to buf, of max
 * bytes.  Its length; 0: there is none such.
 */
uint32_t way_reply(const struct rpc_peer *peer, uint32_t imm, void *buf,
		   size_t max);
/* Gives the slot's buffer back, if it has one. */
void way_give(struct rpc_peer *peer, struct peer_slot *s);
/* The same, and the request names what the caller did. */
void way_again(struct rpc_peer *peer, struct peer_slot *s);
/* ways.c: the request goes out this way; in the log, at the end of ctx. */
void way_count(struct rpc_peer *peer, const struct peer_slot *s,
	       const struct wire_hdr *hdr, enum way way);
/* A read ended without a reply. */
void way_count_whole(struct rpc_peer *peer);
void ways_report(const struct rpc_ctx *ctx);
/* The connection is gone, and all buffers with it. */
void way_reset(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_way_int.h - how the payload of a request is transferred.  The caller names memory.  Each
 * time the request is sent, a way is chosen by its size, the connection, and the free buffers
 * (ICPP 2003, sections 3.4 and 4.1):
 *
 *   INLINE      a write up to inline_max: after the message, in one Send
 *   FAST_WRITE  a write up to fast_max, if the transport pins memory: after the
 *               message, by RDMA Write into a buffer of the server.  Sent from
 *               the caller's memory if that is registered, or was copied often
 *               and may stay registered (often_int.h); else copied first
 *   FAST_READ   a read up to fast_max into memory that would have to be pinned
 *               and is not registered: into a buffer of ours
 *   KEYS        the server reads or writes the caller's memory
 */
#ifndef CALL_WAY_INT_H
#define CALL_WAY_INT_H

#include "common/comm/progress/ctx.h"
#include "common/buffer/fast.h"
#include "common/comm/call/often_int.h"
#include "common/comm/call/rpc_call.h"

#define WAY_INLINE_FAST 4096u /* bytes, on a rail with Fast RDMA */
#define WAY_INLINE_MAX WIRE_INLINE_MAX /* ... on the others */
#define WAY_PIECES 16u /* maximum pieces of a FAST_READ */
#define WAY_IN_PLACE 8u /* maximum pieces of a FAST_WRITE that is not copied */

struct rpc_peer;
struct peer_slot;

enum way { WAY_KEYS, WAY_INLINE, WAY_FAST_WRITE, WAY_FAST_READ };
_Static_assert(WAY_FAST_READ < CTX_WAYS, "room to count all ways");

/* The buffers of a connection; part of struct rpc_peer. */
struct peer_fast {
	struct fast *own; /* NULL: not needed yet */
	struct fast_peer theirs;
	uint32_t busy; /* bit i: buffer i is in use, at both ends */
	struct often often; /* sources that were copied */
	bool asked; /* theirs was requested on this connection */
	struct ctx_task ask;
	struct rpc_call call;
};

void way_init(struct rpc_peer *peer);
/* Sets inline_max and fast_max of each rail. */
void way_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* Chooses a way for the slot, and takes a buffer if the way needs one. */
enum way way_choose(struct rpc_peer *peer, struct peer_slot *s,
		    const struct wire_hdr *hdr);
/*
 * Fills sge with the entries of the payload after the message, at most RPC_DATA_MAX.  Returns
 * their number, or -EFAULT if the caller's memory is not accessible.  *in_place: the caller's
 * memory is read until the request has been sent.
 */
int way_gather(struct rpc_peer *peer, struct peer_slot *s, enum way way,
	       struct tp_sge *sge, bool *in_place);
/* FAST_READ: names our buffer in the message instead of the caller's memory. */
void way_bounce(struct rpc_peer *peer, struct peer_slot *s);
/* The bytes of a FAST_READ, or NULL. */
const void *way_landed(const struct rpc_peer *peer, const struct peer_slot *s);
/*
 * Copies a reply that the server wrote after such bytes (wire_imm()) to buf, of max bytes.
 * Returns its length; 0: there is no valid reply.
 */
uint32_t way_reply(const struct rpc_peer *peer, uint32_t imm, void *buf,
		   size_t max);
/* Gives back the buffer of the slot, if it has one. */
void way_give(struct rpc_peer *peer, struct peer_slot *s);
/* The same; also restores the addresses of the caller in the request. */
void way_again(struct rpc_peer *peer, struct peer_slot *s);
/*
 * ways.c: counts the request for this way.  ways_report() logs the counts when ctx closes.
 */
void way_count(struct rpc_peer *peer, const struct peer_slot *s,
	       const struct wire_hdr *hdr, enum way way);
/* Counts a read that ended without a reply. */
void way_count_whole(struct rpc_peer *peer);
void ways_report(const struct rpc_ctx *ctx);
/* The connection is closed, and all its buffers are gone. */
void way_reset(struct rpc_peer *peer);

#endif

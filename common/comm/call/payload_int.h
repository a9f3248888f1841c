/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload_int.h - the payload of a request: the caller's memory, and how its bytes are
 * transferred.  Each time the request is sent, a path is chosen by the size, the connection, and
 * the free buffers (ICPP 2003, sections 3.4 and 4.1):
 *
 *   INLINE      a write up to inline_max: after the message, in one Send
 *   FAST_WRITE  a write up to fast_max, if the transport pins memory: after the
 *               message, by RDMA Write into a buffer of the server.  Sent from
 *               the caller's memory if that is registered, or was copied often
 *               and may stay registered; else copied first
 *   FAST_READ   a read up to fast_max into memory that would have to be pinned
 *               and is not registered: into a buffer of ours
 *   DIRECT      the server reads or writes the caller's memory
 */
#ifndef PAYLOAD_INT_H
#define PAYLOAD_INT_H

#include "common/comm/progress/ctx.h"
#include "common/buffer/fast.h"
#include "common/comm/call/rpc_call.h"

#define PAYLOAD_INLINE_FAST 4096u /* bytes, on a rail with Fast RDMA */
#define PAYLOAD_INLINE_MAX WIRE_INLINE_MAX /* ... on the others */
#define PAYLOAD_BOUNCE_PIECES 16u /* maximum pieces of a FAST_READ */
/* maximum pieces of a FAST_WRITE that is not copied */
#define PAYLOAD_IN_PLACE_PIECES 8u

struct rpc_peer;
struct peer_slot;

enum payload_path {
	PAYLOAD_DIRECT,
	PAYLOAD_INLINE,
	PAYLOAD_FAST_WRITE,
	PAYLOAD_FAST_READ
};
_Static_assert(PAYLOAD_FAST_READ < CTX_PAYLOAD_PATHS, "room to count all");

#define COPY_COUNTS_RANGES 16u /* number of ranges that are remembered */
#define COPY_COUNTS_LIMIT                                                      \
	4u /* registering costs about as much as some copies */

/*
 * How often data was copied from the same memory.  After some copies, that memory is registered,
 * and then no longer copied (the short protocol and lazy deregistration of the VIA module for
 * LAM/MPI, section 3).  All zero: no range was seen yet.
 */
struct copy_counts {
	struct copied_range {
		const void *addr;
		size_t len;
		unsigned int times;
	} range[COPY_COUNTS_RANGES];
	unsigned int next; /* the range to replace next */
};

/* The buffers of a connection; part of struct rpc_peer. */
struct peer_fast {
	struct fast *own; /* NULL: not needed yet */
	struct fast_peer theirs;
	uint32_t busy; /* bit i: buffer i is in use, at both ends */
	struct copy_counts counts; /* of sources that were copied */
	bool asked; /* theirs was requested on this connection */
	struct ctx_task ask; /* requests theirs: peer_requests.c */
	struct rpc_call call; /* that request */
};

/* Sets inline_max and fast_max of each rail. */
void payload_set_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* Chooses a path for the slot, and takes a buffer if the path needs one. */
enum payload_path payload_choose_path(struct rpc_peer *peer,
				      struct peer_slot *s,
				      const struct wire_hdr *hdr);
/*
 * Prepares the message for that path, and fills sge with the entries of the payload after it, at
 * most RPC_DATA_MAX.  Returns their number, or -errno: the caller's memory is not accessible
 * (-EFAULT) or cannot be registered.  Sets s->sending if the caller's memory is read until the
 * request has been sent.
 */
int payload_prepare(struct rpc_peer *peer, struct peer_slot *s,
		    enum payload_path path, struct tp_sge *sge);
/* The bytes of a FAST_READ, or NULL. */
const void *payload_bounced(const struct rpc_peer *peer,
			    const struct peer_slot *s);
/*
 * Copies a reply that the server wrote after such bytes (wire_imm()) to buf, of max bytes.
 * Returns its length; 0: there is no valid reply.
 */
uint32_t payload_copy_reply(const struct rpc_peer *peer, uint32_t imm,
			    void *buf, size_t max);
/* Gives back the buffer of the slot, if it has one. */
void payload_free_buffer(struct rpc_peer *peer, struct peer_slot *s);
/* The same; also restores the addresses of the caller in the request. */
void payload_undo(struct rpc_peer *peer, struct peer_slot *s);
/* The server or an adapter moves all data, so this end has no work meanwhile. */
bool payload_is_offloaded(const struct rpc_link *link);
/*
 * The area of the slot that holds piece, or NULL.  Starts the search at *at, usually the area of
 * the previous piece.
 */
struct rail_mem *payload_area(const struct peer_slot *s, unsigned int *at,
			      const struct wire_mem *piece);
/* Counts the request for this path. */
void payload_count(struct rpc_peer *peer, const struct peer_slot *s,
		   const struct wire_hdr *hdr, enum payload_path path);
/* Counts a read that ended without a reply. */
void payload_count_whole(struct rpc_peer *peer);
/*
 * Counts one more use of the range.  Returns true at every COPY_COUNTS_LIMIT-th use, so that the
 * caller does not try to register at each use a range that cannot stay registered.
 */
bool copy_counts_add(struct copy_counts *c, const void *addr, size_t len);
/* The connection is closed, and all its buffers are gone. */
void payload_reset(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload_int.h - how the bytes of a request move between the caller's memory and the server.
 * Each time the request is sent, the peer chooses a path by the size, the connection, and the
 * free buffers (ICPP 2003, sections 3.4 and 4.1):
 *
 *   INLINE      a write of at most inline_max bytes: the data follows the message in one Send
 *   FAST_WRITE  a write of at most fast_max bytes, if the transport pins memory: message and data
 *               go by RDMA Write into a buffer of the server.  The peer copies the data first,
 *               unless the caller's memory is registered, or is copied so often that the peer
 *               registers it
 *   FAST_READ   a read of at most fast_max bytes, if the caller's memory is not registered and
 *               would have to be pinned: the data arrives in a buffer of the client
 *   DIRECT      all others: the server reads or writes the caller's memory by RDMA
 */
#ifndef PAYLOAD_INT_H
#define PAYLOAD_INT_H

#include "common/comm/progress/ctx.h"
#include "common/buffer/fast.h"
#include "common/comm/call/rpc_call.h"

/* default of inline_max in bytes, on a rail with Fast RDMA */
#define PAYLOAD_INLINE_FAST 4096u
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
 * Counts how often the peer copied data from the same memory.  After some copies, it registers
 * that memory and no longer copies (the short protocol and lazy deregistration of the VIA module
 * for LAM/MPI, section 3).  Initialised with zeros.
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
	struct fast *own; /* our buffers; NULL if they were not needed yet */
	struct fast_peer theirs;
	uint32_t busy; /* bit i is set if buffer i is in use, at both ends */
	/* counts of copies from the caller's memory */
	struct copy_counts counts;
	bool asked; /* the server's buffers were requested on this connection */
	/* requests the server's buffers: peer_requests.c */
	struct ctx_task ask;
	struct rpc_call call; /* the call of that request */
};

/* Sets inline_max and fast_max of each rail. */
void payload_set_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* Chooses a path for the slot, and takes a buffer if the path needs one. */
enum payload_path payload_choose_path(struct rpc_peer *peer,
				      struct peer_slot *s,
				      const struct wire_hdr *hdr);
/*
 * Prepares the message of slot s for path, and fills sge with the payload that follows the message,
 * at most RPC_DATA_MAX entries. Sets s->sending if the transport reads the caller's memory until
 * the send is complete. Returns the number of entries; -EFAULT if the caller's memory is not
 * accessible; or the error of registering it.
 */
int payload_prepare(struct rpc_peer *peer, struct peer_slot *s,
		    enum payload_path path, struct tp_sge *sge);
/* Returns the buffer with the bytes of a FAST_READ, or NULL if slot s used another path. */
const void *payload_bounced(const struct rpc_peer *peer,
			    const struct peer_slot *s);
/*
 * The server may write its reply into the buffer of a FAST_READ, after the data. imm (wire_imm())
 * says where. Copies this reply to buf, of max bytes. Returns its length, or 0 if imm or the reply
 * is not valid.
 */
uint32_t payload_copy_reply(const struct rpc_peer *peer, uint32_t imm,
			    void *buf, size_t max);
/* Gives back the buffer of the slot, if it has one. */
void payload_free_buffer(struct rpc_peer *peer, struct peer_slot *s);
/*
 * As payload_free_buffer(). Also puts the addresses of the caller's memory back into the request.
 */
void payload_undo(struct rpc_peer *peer, struct peer_slot *s);
/* Returns true if the server or an adapter moves the data, without work of this process. */
bool payload_is_offloaded(const struct rpc_link *link);
/*
 * Returns the area of slot s that contains piece, or NULL.  The search begins at index *at,
 * usually that of the previous piece, and sets *at to the index found.
 */
struct rail_mem *payload_area(const struct peer_slot *s, unsigned int *at,
			      const struct wire_mem *piece);
/* Counts the request for this path. */
void payload_count(struct rpc_peer *peer, const struct peer_slot *s,
		   const struct wire_hdr *hdr, enum payload_path path);
/* Counts a read that ended without a reply. */
void payload_count_whole(struct rpc_peer *peer);
/*
 * Counts a copy from the len bytes at addr.  Returns true at every COPY_COUNTS_LIMIT-th copy: the
 * caller then registers the range.  If the range does not stay registered, the next try comes
 * only after as many copies.
 */
bool copy_counts_add(struct copy_counts *c, const void *addr, size_t len);
/* Called when the connection is closed: all its buffers are gone. */
void payload_reset(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_rma.h - one-sided access (RMA) to words of a server, part of rpc.h.
 *
 * A server tells a client in a message where a word is.  From then on, the client reads it by
 * RDMA Read, or adds to it by an RDMA atomic.  No program on the server wakes up for that (if its
 * transport has TP_ALONE).  The address holds only for the connection on which it was sent, and
 * until the server withdraws it.  Access to a withdrawn word is refused and breaks the
 * connection.
 */
#ifndef RPC_RMA_H
#define RPC_RMA_H

#include <stdint.h>

#include "common/comm/call/rpc_call.h"

#define RPC_RMA_MAX 4160u /* maximum bytes of one READ */

/* The caller owns it and keeps it until done(). */
struct rpc_rma {
	enum tp_opcode op; /* TP_READ, TP_FETCH_ADD */
	uint64_t addr; /* at the server */
	uint32_t rkey;
	uint32_t term; /* rpc_peer_term() when the address was received */
	uint32_t len; /* of a READ, bytes */
	uint64_t add; /* of a FETCH_ADD */
	uint64_t deadline; /* absolute; never CLOCK_NEVER */
	void (*done)(struct rpc_rma *rma);
	void *arg;

	/*
	 * Results.  0: data is what was there, valid until done() returns.  -EACCES: it was
	 * refused and not done.  -ECONNABORTED, -ETIMEDOUT: unknown whether it was done.
	 */
	int status;
	const void *data;

	struct { /* private */
		struct rpc_peer *peer;
		struct rpc_timer timer;
		TAILQ_ENTRY(rpc_rma) link;
		unsigned int slot;
	} p;
};

/* Identifies the connection on which the server sends now. */
uint32_t rpc_peer_term(const struct rpc_peer *peer);
/*
 * Returns 0: done() follows, but not from here.  -ESTALE: that connection is gone.  -EBUSY: too
 * many are in progress.  -EINVAL: the READ is too long.  -ENOMEM, or as tp_post_send(): nothing
 * was started.
 */
int rpc_rma_start(struct rpc_peer *peer, struct rpc_rma *rma);

#endif

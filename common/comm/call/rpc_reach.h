/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_reach.h - one-sided access to words of a server, part of rpc.h.
 *
 * A server tells a client by message where a word lies; from then on the client reads
 * it by RDMA Read, or adds to it by an RDMA atomic, and no program of the server wakes
 * up (where its transport has TP_ALONE).  What was told holds for the
 * connection that it came over, and for no longer than the server likes: an access
 * to what it took back is refused, which costs the connection.
 */
#ifndef RPC_REACH_H
#define RPC_REACH_H

#include <stdint.h>

#include "common/comm/call/rpc_call.h"

#define REACH_BYTES 4160u /* of one READ, at most */

/* The caller's until done(). */
struct rpc_reach {
	enum tp_opcode op; /* TP_READ, TP_FETCH_ADD */
	uint64_t addr; /* at the server */
	uint32_t rkey;
	uint32_t term; /* rpc_peer_term() when they were told */
	uint32_t len; /* of a READ, bytes */
	uint64_t add; /* of a FETCH_ADD */
	uint64_t deadline; /* absolute; never CLOCK_NEVER */
	void (*done)(struct rpc_reach *reach);
	void *arg;

	/*
	 * Results.  0: data has what was there, until done() returns.  -EACCES: it was
	 * refused, and nothing was done.  -ECONNABORTED, -ETIMEDOUT: nobody
	 * knows whether it was done.
	 */
	int status;
	const void *data;

	struct { /* private */
		struct rpc_peer *peer;
		struct rpc_timer timer;
		TAILQ_ENTRY(rpc_reach) link;
		unsigned int slot;
	} p;
};

/* Of which connection something is that the server says now. */
uint32_t rpc_peer_term(const struct rpc_peer *peer);
/*
 * 0: done() follows, not from here.  -ESTALE: that connection is gone; -EBUSY: as many
 * as may be are under way; -ENOMEM, or as tp_post_send(): nothing was begun.
 */
int rpc_reach_start(struct rpc_peer *peer, struct rpc_reach *reach);

#endif

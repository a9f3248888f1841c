/* SPDX-License-Identifier: BSD-2-Clause */
/* rma_int.h - one-sided operations (RMA) of a peer that are in progress. */
#ifndef RMA_INT_H
#define RMA_INT_H

#include "common/comm/call/rpc_rma.h"

#define RMA_SLOTS 16u /* maximum number of operations in progress, per peer */
#define RMA_SMALL 64u /* largest result of a small operation, in bytes */

struct peer_rma {
	struct rma_slot {
		bool busy; /* the transport uses the buffer */
		/* NULL if nobody waits for the operation */
		struct rpc_rma *rma;
	} slot[RMA_SLOTS];
	/* buffers for results, small and large; allocated when needed */
	struct rma_results {
		uint8_t *block; /* RMA_SLOTS buffers, or NULL */
		struct rail_mem mem;
	} words, blocks;
	/* an operation was refused; those after it were not executed */
	bool refused;
	/* operations whose done() is due */
	TAILQ_HEAD(rma_list, rpc_rma) ended;
	struct ctx_task drain;
};

void rma_init(struct rpc_peer *peer);
void rma_fini(struct rpc_peer *peer);
/* Returns whether wc belongs to a one-sided operation; the caller then calls rma_completed(). */
bool rma_owns(const struct tp_wc *wc);
void rma_completed(struct rpc_peer *peer, const struct tp_wc *wc);
/* Called when the connection is closed: ends all operations. done() runs in the next round. */
void rma_lost(struct rpc_peer *peer);
/* Calls done() of the operations that rma_lost() has ended. */
void rma_drain(struct rpc_peer *peer);

#endif

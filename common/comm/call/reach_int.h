/* SPDX-License-Identifier: BSD-2-Clause */
/* reach_int.h - one-sided operations of a peer that are in progress. */
#ifndef REACH_INT_H
#define REACH_INT_H

#include "common/comm/call/rpc_reach.h"

#define REACHES 16u /* maximum in progress, per peer */
#define REACH_WORDS 64u /* bytes of a small one */

struct peer_reach {
	struct reach_slot {
		bool busy; /* the transport uses it */
		struct rpc_reach *reach; /* NULL: nobody waits for it */
	} slot[REACHES];
	/* buffers for results, small and large; allocated when needed */
	struct reach_landing {
		uint8_t *block; /* REACHES buffers, or NULL */
		struct rail_mem mem;
	} words, blocks;
	bool refused; /* one was refused; those after it were not executed */
	TAILQ_HEAD(reaches, rpc_reach) ended; /* done() is due */
	struct ctx_task drain;
};

void reach_init(struct rpc_peer *peer);
void reach_fini(struct rpc_peer *peer);
/* If reach_is(wc), call reach_completed(), whatever the status. */
bool reach_is(const struct tp_wc *wc);
void reach_completed(struct rpc_peer *peer, const struct tp_wc *wc);
/* The connection is closed: ends all operations.  done() runs in the next round. */
void reach_lost(struct rpc_peer *peer);
/* The same, with done() now. */
void reach_drain(struct rpc_peer *peer);

#endif

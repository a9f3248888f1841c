/* SPDX-License-Identifier: BSD-2-Clause */
/* reach_int.h - one-sided operations of a peer that are under way. */
#ifndef REACH_INT_H
#define REACH_INT_H

#include "common/comm/call/rpc_reach.h"

#define REACHES 16u /* under way at a time, of one peer */
#define REACH_WORDS 64u /* bytes of a small one */

struct peer_reach {
	struct reach_slot {
		bool busy; /* the transport has it */
		struct rpc_reach *reach; /* NULL: nobody waits */
	} slot[REACHES];
	/* where results land: words, and what is longer; made when needed */
	struct reach_landing {
		uint8_t *block; /* REACHES of them, or NULL */
		struct rail_mem mem;
	} words, blocks;
	bool refused; /* what is behind that one was not carried out */
	TAILQ_HEAD(reaches, rpc_reach) ended; /* done() is to come */
	struct ctx_task drain;
};

void reach_init(struct rpc_peer *peer);
void reach_fini(struct rpc_peer *peer);
/* Completions: reach_completed(), with any status, if reach_is(). */
bool reach_is(const struct tp_wc *wc);
void reach_completed(struct rpc_peer *peer, const struct tp_wc *wc);
/* The connection is closed: all end, done() from the next round. */
void reach_lost(struct rpc_peer *peer);
/* ... or now. */
void reach_drain(struct rpc_peer *peer);

#endif

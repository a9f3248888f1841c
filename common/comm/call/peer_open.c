/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_open.c - a peer as programs use it: one that finds another manager if the leader is silent.
 */
#include "common/comm/call/peer_int.h"

int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **peer)
{
	int rc = peer_open(ctx, attr, peer);

	if (!rc && attr->nmanagers)
		peer_scout_init(*peer);
	return rc;
}

void rpc_peer_close(struct rpc_peer *peer, bool bye)
{
	peer_scout_end(peer);
	peer_close(peer, bye);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup_int.h - the addresses of a peer's host, found before it is connected to.
 * Whoever waits for the system's resolver is not this thread (resolver.h).
 */
#ifndef LOOKUP_INT_H
#define LOOKUP_INT_H

struct rpc_ctx;
struct rpc_peer;

/* Of a context.  -ENOMEM */
int lookup_open(struct rpc_ctx *ctx);
/* Look-ups that are under way are left behind. */
void lookup_close(struct rpc_ctx *ctx);

/* Sets peer->hosts, then peer_named() comes: from here, or later. */
void lookup_find(struct rpc_peer *peer);
/* peer_named() will not come. */
void lookup_forget(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup_int.h - looks up the addresses of a peer's host before connecting to it.  Another thread
 * waits for the system's resolver (resolver.h).
 */
#ifndef LOOKUP_INT_H
#define LOOKUP_INT_H

struct rpc_ctx;
struct rpc_peer;

/* For a context.  Returns 0 or -ENOMEM. */
int lookup_open(struct rpc_ctx *ctx);
/* Does not wait for look-ups in progress. */
void lookup_close(struct rpc_ctx *ctx);

/* Sets peer->hosts and calls peer_named(), immediately or later. */
void lookup_find(struct rpc_peer *peer);
/* Prevents the call of peer_named(). */
void lookup_forget(struct rpc_peer *peer);

#endif

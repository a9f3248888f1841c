/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc.h - requests and replies over the transport seam.
 *
 * Flow control.  A session owns a small table of slots at each server; a
 * request occupies one slot until its reply.  The server posts one receive
 * per slot, the client one per request in flight: slots are the paper's
 * credits (ICPP 2003, section 3.3.1), and a receiver is never found not
 * ready.  Where a transport has shared receive queues the server's clients
 * share receives instead (serve/shared.c), and a message may wait.  Every
 * reply carries the number of slots the client may use.
 *
 * Exactly once.  A request is named by (session, slot, seq).  The server
 * keeps the last reply of each slot; after a broken connection the client
 * reconnects and replays what was outstanding, and a replay that was already
 * executed gets the kept reply.
 *
 * Deadlines.  Every call has one.  Until then the client reconnects and
 * replays as often as it takes; then the call is done with -ETIMEDOUT and one
 * log line names the server.  The server knows the deadline, on its own clock and
 * not later: see offset_int.h and rpc_req_late().
 *
 * Its parts: the progress context that all runs on (rpc_ctx.h), calls
 * (rpc_call.h), words that need no server's work (rpc_reach.h), and the server (rpc_serve.h, rpc_req.h, rpc_bulk.h).
 */
#ifndef RPC_H
#define RPC_H

#include "common/comm/call/rpc_call.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/comm/call/rpc_reach.h"
#include "common/comm/serve/rpc_serve.h"

int rpc_ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **ctx);
/* Peers and servers of the ctx must be closed. */
void rpc_ctx_close(struct rpc_ctx *ctx);

/* Whether a server could listen there; an error is logged. */
int rpc_server_try(const struct fabric *fabric, const struct addr *addr);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc.h - requests and replies over the transport interface.
 *
 * Flow control.  A session owns a small table of slots at each server.  A request occupies one
 * slot until its reply.  The server posts one receive per slot, and the client posts one per
 * request in flight.  So slots are the credits of the paper (ICPP 2003, section 3.3.1), and a
 * receiver always has a receive posted.  If a transport has shared receive queues, the clients of
 * a server share receives instead (serve/conn_messages.c), and a message may have to wait.  Every
 * reply contains the number of slots that the client may use.
 *
 * Exactly once.  A request is identified by (session, slot, seq).  The server keeps the last
 * reply of each slot.  After a broken connection, the client reconnects and replays the
 * outstanding requests.  If the server already executed a replayed request, it returns the kept
 * reply.
 *
 * Deadlines.  Every call has one.  Until then the client reconnects and replays as often as
 * needed.  At the deadline the call ends with -ETIMEDOUT, and one log line names the server.  The
 * server gets the deadline on its own clock, never later than the true time: see clock_offset.h and
 * rpc_req_late().
 *
 * The parts are the progress context, in which everything runs (rpc_ctx.h); the client's calls
 * (rpc_call.h); the client's RDMA access to words of a server (rpc_rma.h); and the server
 * (rpc_serve.h).
 */
#ifndef RPC_H
#define RPC_H

#include "common/comm/call/rpc_call.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/comm/call/rpc_rma.h"
#include "common/comm/serve/rpc_serve.h"

int rpc_ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **ctx);
/* The caller closes the peers and servers of ctx first. */
void rpc_ctx_close(struct rpc_ctx *ctx);

/* Checks whether a server could listen at addr. Returns 0 or -errno, which is logged. */
int rpc_server_try(const struct fabric *fabric, const struct addr *addr);

#endif

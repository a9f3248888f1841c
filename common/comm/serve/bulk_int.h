/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk_int.h - RDMA on behalf of requests, as the connection sees it. */
#ifndef BULK_INT_H
#define BULK_INT_H

#include "common/comm/progress/ctx.h"
#include "common/comm/serve/rpc_bulk.h"

struct conn;
struct rx;

/*
 * Posts the chain in the context's scratch space.  If the connection broke, done() reports that.
 */
void bulk_post_held(struct conn *conn, struct rpc_bulk *bulk);
/*
 * bulk_queue() appends to the waiting chains of the connection.  Returns 0 or -ENOMEM.
 * bulk_pump() posts those for which there is room.
 */
int bulk_queue(struct conn *conn, struct rpc_bulk *bulk);
void bulk_pump(struct conn *conn);
/* A bulk of the request was posted.  Posts the reply if it waited for that. */
void bulk_posted(struct rx *rx);
/* A chain completed: calls done(), and posts waiting chains. */
void bulk_complete(struct conn *conn, struct rpc_bulk *bulk);
/* The connection is closed: calls done() of all with status. */
void bulk_fail_all(struct conn *conn, int status);
/* The connection is freed without being closed. */
void bulk_forget(struct conn *conn);
/* For the timer of conn: closes it if no bulk data moved in stall_ms. */
void bulk_watch(struct conn *conn);

#endif

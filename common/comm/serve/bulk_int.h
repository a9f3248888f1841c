/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk_int.h - RDMA on behalf of requests, seen by the connection. */
#ifndef BULK_INT_H
#define BULK_INT_H

#include "common/comm/progress/ctx.h"
#include "common/comm/serve/rpc_bulk.h"

struct conn;
struct rx;

/* Posts the chain in the context's scratch; a connection that broke is told by
 * done(). */
void bulk_post_held(struct conn *conn, struct rpc_bulk *bulk);
/* Behind the others of the connection; bulk_pump() posts what there is room for. */
int bulk_queue(struct conn *conn, struct rpc_bulk *bulk);
void bulk_pump(struct conn *conn);
/* A bulk of the request is on its way; the reply that waited for it follows. */
void bulk_posted(struct rx *rx);
/* A chain completed: done(), and what waited goes out. */
void bulk_complete(struct conn *conn, struct rpc_bulk *bulk);
/* The connection is closed: done() of all with status. */
void bulk_fail_all(struct conn *conn, int status);
/* The connection is freed without being closed. */
void bulk_forget(struct conn *conn);
/* The conn's timer: breaks it if nothing moved in stall_ms. */
void bulk_watch(struct conn *conn);

#endif

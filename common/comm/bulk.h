/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk.h - RDMA on behalf of requests, seen by the connection. */
#ifndef BULK_H
#define BULK_H

#include "ctx.h"

/* Work requests of bulk data outstanding on one connection. */
#define BULK_WR_MAX 320u

struct conn;

/* Posts the chain in the context's scratch; a connection that broke is told by
 * done(). */
void bulk_post_held(struct conn *conn, struct rpc_bulk *bulk);
/* A chain completed: done(), and what waited goes out. */
void bulk_complete(struct conn *conn, struct rpc_bulk *bulk);
/* The connection is closed: done() of all with status. */
void bulk_fail_all(struct conn *conn, int status);
/* The connection is freed without being closed. */
void bulk_forget(struct conn *conn);
/* The conn's timer: breaks it if nothing moved in stall_ms. */
void bulk_watch(struct conn *conn);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_bulk.h - bulk data of requests, moved by the server; part of rpc.h. */
#ifndef RPC_BULK_H
#define RPC_BULK_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/buffer/rail.h"
#include "common/wire/wire.h"

struct rpc_req;

/*
 * Bulk data.  The server reads (RPC_GET) or writes (RPC_PUT) the bytes [mem_off, mem_off + len)
 * of the wire_mem list of the request, in the client's memory.  Locally it uses len bytes of
 * registered memory.  It posts one chain of work requests, of which only the last is signaled.
 * The caller owns the bulk and keeps it until done().
 *
 * rpc_reply_send() may follow a PUT immediately: the reply does not overtake the data.  done()
 * still comes, and means that the local memory is free.  done() with an error: the connection
 * broke.  Call rpc_req_abort() then, if the request is still held.  done() is never called from
 * rpc_bulk_start().
 *
 * A bulk beyond rdma_max waits.  Connections take turns, and the replies to such PUTs wait with
 * them.  If clients carry data, the bulks of a request may end in any order.
 */
enum rpc_bulk_dir { RPC_GET, RPC_PUT };
struct rpc_bulk {
	enum rpc_bulk_dir dir;
	const struct wire_mem *mem;
	unsigned int nmem;
	uint64_t mem_off;
	const struct rail_sge *local;	/* read during the start only */
	unsigned int nlocal;
	uint64_t len;
	/* Of a PUT: the caller promises to call rpc_reply_send() of the request next. */
	bool last;
	/*
	 * The client may move it, if local is one piece; see struct rpc_server_attr.  The memory
	 * of a GET is cleared first.
	 */
	bool lend;
	/* local is part of the object; for statistics */
	bool mapped;
	void (*done)(struct rpc_bulk *bulk, int status);
	void *arg;
	/* private */
	TAILQ_ENTRY(rpc_bulk) link;
	struct rpc_req *req;
	struct rail_sge *copy;
	unsigned int nwr;
};
#define RPC_LOCAL_MAX 1024u
/*
 * Returns 0.  -ENOTCONN: there is no connection now.  -EINVAL: no bytes, a window outside the
 * list, less local memory than len, or nlocal above RPC_LOCAL_MAX.  -ENOMEM, or as tp_mr_reg()
 * for local memory that is not registered yet.
 */
int rpc_bulk_start(struct rpc_req *req, struct rpc_bulk *bulk);

#endif

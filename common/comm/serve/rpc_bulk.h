/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_bulk.h - bulk data of requests, moved by the server; part of rpc.h. */
#ifndef RPC_BULK_H
#define RPC_BULK_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/buffer/rail.h"
#include "common/wire/wire.h"

struct rpc_req;

/*
 * Bulk data: the server reads (RPC_GET) or writes (RPC_PUT) the client's
 * memory, the bytes [mem_off, mem_off + len) of the request's wire_mem list,
 * from or to len bytes of registered local memory.  One chain of work
 * requests, only the last signaled.  Owned by the caller until done().
 *
 * A PUT may be followed by rpc_reply_send() at once: the reply does not
 * overtake the data; done() still comes and means the local memory is free.
 * done() with an error: the connection is broken (rpc_req_abort() then, if
 * the request is still held).  done() is never called from rpc_bulk_start().
 *
 * What rdma_max has no room for waits; connections take turns, and the replies
 * behind such PUTs wait with them.  Where clients carry, bulks of a request may
 * be done in any order.
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
	bool last;			/* of a PUT: rpc_reply_send() of the request
					 * is what the caller does next */
	bool lend;			/* the client may move it, if local is one
					 * piece; see struct rpc_server_attr.  What
					 * a GET lends is cleared before */
	bool mapped;			/* local is a part of the object: for statistics */
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
 * 0; -ENOTCONN: no connection now; -EINVAL: no bytes, window outside the list,
 * less local memory than len, or nlocal above RPC_LOCAL_MAX; -ENOMEM, or as
 * tp_mr_reg() of local memory that is not registered yet.
 */
int rpc_bulk_start(struct rpc_req *req, struct rpc_bulk *bulk);

#endif

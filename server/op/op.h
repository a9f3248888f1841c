/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - the operations of the iod.  Each takes a request that was admitted, on its worker's
 * thread, and answers it now or later.  Errors go into the reply.
 */
#ifndef OP_H
#define OP_H

struct rpc_req;
struct worker;

void op_read(struct worker *w, struct rpc_req *req);
void op_write(struct worker *w, struct rpc_req *req);
void op_sync(struct worker *w, struct rpc_req *req);
void op_resize(struct worker *w, struct rpc_req *req);
void op_getsize(struct worker *w, struct rpc_req *req);
void op_fallocate(struct worker *w, struct rpc_req *req);
void op_seek(struct worker *w, struct rpc_req *req);
void op_remove(struct worker *w, struct rpc_req *req);
void op_objects(struct worker *w, struct rpc_req *req);
void op_counter(struct worker *w, struct rpc_req *req);
void op_place(struct worker *w, struct rpc_req *req);
void op_share(struct worker *w, struct rpc_req *req);
void op_borrow(struct worker *w, struct rpc_req *req);
void op_claim(struct worker *w, struct rpc_req *req);
void op_lease(struct worker *w, struct rpc_req *req);
void op_fence(struct worker *w, struct rpc_req *req);
void op_order(struct worker *w, struct rpc_req *req);
void op_assign(struct worker *w, struct rpc_req *req);
void op_outcome(struct worker *w, struct rpc_req *req);
void op_ping(struct worker *w, struct rpc_req *req);
void op_statfs(struct worker *w, struct rpc_req *req);
void op_disk(struct worker *w, struct rpc_req *req);

#endif

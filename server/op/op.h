/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - the operations of the iod, one file each, and what they share.
 */
#ifndef OP_H
#define OP_H

#include "server/state/change.h"
#include "server/state/worker.h"

struct iod_op {
	/* Answers req, now or later. */
	void (*run)(struct worker *w, struct rpc_req *req);
	unsigned int roles; /* 1 << WIRE_ROLE_* of who may ask */
	enum sync_kind kind; /* of its jobs */
};
/* NULL: not an operation of the iod. */
const struct iod_op *iod_op_find(unsigned int op);

void op_borrow(struct worker *w, struct rpc_req *req);
void op_counter(struct worker *w, struct rpc_req *req);
void op_place(struct worker *w, struct rpc_req *req);
void op_share(struct worker *w, struct rpc_req *req);
void op_claim(struct worker *w, struct rpc_req *req);
void op_ping(struct worker *w, struct rpc_req *req);
void op_disk(struct worker *w, struct rpc_req *req);
void op_statfs(struct worker *w, struct rpc_req *req);
void op_read(struct worker *w, struct rpc_req *req);
void op_write(struct worker *w, struct rpc_req *req);
void op_resize(struct worker *w, struct rpc_req *req);
void op_sync(struct worker *w, struct rpc_req *req);
void op_getsize(struct worker *w, struct rpc_req *req);
void op_remove(struct worker *w, struct rpc_req *req);
void op_fence(struct worker *w, struct rpc_req *req);
void op_lease(struct worker *w, struct rpc_req *req);
void op_fallocate(struct worker *w, struct rpc_req *req);
void op_seek(struct worker *w, struct rpc_req *req);
void op_objects(struct worker *w, struct rpc_req *req);

/* Builds, ends and sends a reply: body, then tail of len bytes. */
void op_reply(struct rpc_req *req, const void *body, size_t body_len,
	      const void *tail, size_t len, unsigned int flags);

/*
 * A request that waits for the disk: block() runs on a thread of the pool,
 * finish() back on the worker's; it answers and frees.
 */
struct op_job {
	struct worker *worker;
	struct rpc_req *req;
	struct iod_session *ses;
	int (*block)(struct op_job *job);
	void (*finish)(struct op_job *job, int status);
	int status;
	struct sync_work work;
	struct mail mail;
};
/* Answers -ENOMEM itself when it cannot. */
void op_job_start(struct worker *w, struct rpc_req *req,
		  int (*block)(struct op_job *job),
		  void (*finish)(struct op_job *job, int status));
/* The usual finish(): answers with the status. */
void op_job_reply(struct op_job *job, int status);

#endif

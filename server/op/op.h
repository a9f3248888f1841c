/* SPDX-License-Identifier: BSD-2-Clause */
/* op.h - the operations of the iod, one file each, and what they share. */
#ifndef OP_H
#define OP_H

#include "server/state/change.h"
#include "server/state/worker.h"

struct iod_op {
	/* Answers req, now or later. */
	void (*run)(struct worker *w, struct rpc_req *req);
	/* 1 << WIRE_ROLE_* for each role that may send it */
	unsigned int roles;
	enum sync_kind kind; /* of its op_job, if it starts one */
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

/* Builds and sends a reply: body, then len bytes of tail. */
void op_reply(struct rpc_req *req, const void *body, size_t body_len,
	      const void *tail, size_t len, unsigned int flags);

/*
 * A request that may wait for the disk.  block() runs on a thread of the pool.  Then finish()
 * runs on the worker's thread; it answers and frees the job.  If the sender is no longer the
 * manager, block() is not called and the status is -ESTALE.
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
/* If there is no memory, answers -ENOMEM itself. */
void op_job_start(struct worker *w, struct rpc_req *req,
		  int (*block)(struct op_job *job),
		  void (*finish)(struct op_job *job, int status));
/* The usual finish(): answers with the status, and frees the job. */
void op_job_reply(struct op_job *job, int status);

#endif

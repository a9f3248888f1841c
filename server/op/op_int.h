/* SPDX-License-Identifier: BSD-2-Clause */
/* op_int.h - what the operations share: replies, jobs, and the end of sessions. */
#ifndef OP_INT_H
#define OP_INT_H

#include "server/op/op.h"
#include "server/copyset/change.h"
#include "server/state/worker.h"

/* ---- op_job.c ---- */

/*
 * Builds and sends the reply to req: body_len bytes of body, then len bytes of tail, with these
 * flags (WIRE_F_*) in the header.
 */
void op_reply(struct rpc_req *req, const void *body, size_t body_len,
	      const void *tail, size_t len, unsigned int flags);

/*
 * A request that may wait for the disk.  block() runs on a thread of the pool, and returns 0 or
 * -errno.  Then finish() runs on the worker's thread with this status; it answers and frees the
 * job. If the session is that of a manager that the iod does not obey any more, block() is not
 * called and the status is -ESTALE.
 */
struct op_job {
	struct worker *worker;
	struct rpc_req *req;
	struct iod_session *ses;
	int (*block)(struct op_job *job);
	void (*finish)(struct op_job *job, int status);
	int status;
	struct disk_work work;
	struct mailbox_item mail;
};
/* Starts a job of that kind.  If there is no memory, answers -ENOMEM itself. */
void op_job_start(struct worker *w, struct rpc_req *req,
		  enum disk_work_kind kind, int (*block)(struct op_job *job),
		  void (*finish)(struct op_job *job, int status));
/* The usual finish(): answers with the status, and frees the job. */
void op_job_reply(struct op_job *job, int status);

/* ---- op_size.c, op_space.c: for orders ---- */

/* Truncates an object for req; id: of wire_resize, for its order.  0 also if it is missing or was removed, and has nothing to cut. */
int resize_in_time(struct iod *iod, const struct rpc_req *req,
		   struct object_key key, uint64_t size, uint64_t id);
/* Frees or allocates space for req; flags: WIRE_FA_*.  One change, however long the range is. */
int change_space(struct iod *iod, const struct rpc_req *req,
		 struct object_key key, const struct store_seg *seg,
		 uint32_t flags);

/* ---- session_end.c ---- */

struct session_end_worker;

/*
 * Ends sessions on all workers.  From session_end_start() on, requests of these sessions are
 * refused.  At done(), none of their requests is running.  The caller owns the struct, and keeps
 * it until done().
 */
struct session_end {
	/* Returns whether this session is to end.  Called on each worker's thread. */
	bool (*ends)(const struct session_end *e,
		     const struct iod_session *ses);
	/* The same for the orders that primaries send for a session; NULL: no order ends. */
	bool (*ends_order)(const void *e, uint64_t session);
	/* Called once, on the thread of the worker `home`. */
	void (*done)(struct session_end *e);
	/* private */
	struct worker *home;
	atomic_uint left;
	struct mailbox_item mail;
	struct session_end_worker *worker_end; /* one for each worker */
};
/* -ENOMEM: nothing has begun, and done() is not called. */
int session_end_start(struct session_end *e, struct worker *home);

#endif

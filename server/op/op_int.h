/* SPDX-License-Identifier: BSD-2-Clause */
/* op_int.h - what the operations share: replies, jobs, and the end of sessions. */
#ifndef OP_INT_H
#define OP_INT_H

#include "server/op/op.h"
#include "server/state/change.h"
#include "server/state/worker.h"

/* ---- op_job.c ---- */

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
	struct disk_work work;
	struct mailbox_item mail;
};
/* Starts a job of that kind.  If there is no memory, answers -ENOMEM itself. */
void op_job_start(struct worker *w, struct rpc_req *req,
		  enum disk_work_kind kind, int (*block)(struct op_job *job),
		  void (*finish)(struct op_job *job, int status));
/* The usual finish(): answers with the status, and frees the job. */
void op_job_reply(struct op_job *job, int status);

/* ---- session_end.c ---- */

struct session_end_worker;

/*
 * Ends sessions on all workers.  From the start on the sessions are refused.  When the end is
 * done, no request that they sent is running.  The caller owns it, and keeps it until
 * done().
 */
struct session_end {
	/* Whether this session is to end.  Called from any worker's thread. */
	bool (*ends)(const struct session_end *e,
		     const struct iod_session *ses);
	/* Called on home's thread. */
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

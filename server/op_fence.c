/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_fence.c - FENCE: a session is refused from now on, also after a
 * restart, and nothing it sent before runs after the answer.
 *
 * The list is made durable on a thread of the pool; then every worker, on
 * its own thread, marks the session if it is there and waits for what of it is
 * under way, there and in the pool; the last one answers.
 */
#include <errno.h>
#include <stdlib.h>

#include "container.h"
#include "op.h"
#include "xfer.h"

struct fence_op;
struct fence_mark {
	struct mail mail;
	struct session_idle wait;
	struct worker *worker;
	struct fence_op *op;
};

struct fence_op {
	struct worker *home; /* where req belongs */
	struct rpc_req *req;
	uint64_t session;
	atomic_uint left;
	struct mail mail;
	struct fence_mark mark[];
};

static void fence_answer(struct mail *mail)
{
	struct fence_op *op = container_of(mail, struct fence_op, mail);

	rpc_reply_status(op->req, 0);
	free(op);
}

static void fence_idle(struct session_idle *wait)
{
	struct fence_mark *mark = container_of(wait, struct fence_mark, wait);
	struct fence_op *op = mark->op;

	if (atomic_fetch_sub(&op->left, 1) == 1)
		mailbox_post(&op->home->mail, &op->mail);
}

/* The end of its connection, which comes by itself, ends what moves data. */
static void fence_mark(struct mail *mail)
{
	struct fence_mark *mark = (struct fence_mark *)mail;
	struct iod_session *ses;

	mark->wait.idle = fence_idle;
	ses = session_find(mark->worker, mark->op->session);
	if (!ses) {
		fence_idle(&mark->wait);
		return;
	}
	ses->fenced = true;
	xfer_stop_all(mark->worker, ses, -ESTALE);
	session_wait(ses, &mark->wait);
}

static void fence_workers(struct worker *home, struct rpc_req *req,
			  uint64_t session)
{
	struct iod *iod = home->iod;
	unsigned int i, n = iod->nworkers;
	struct fence_op *op;

	op = malloc(sizeof(*op) + n * sizeof(op->mark[0]));
	if (!op) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	op->home = home;
	op->req = req;
	op->session = session;
	op->mail.deliver = fence_answer;
	atomic_init(&op->left, n);
	for (i = 0; i < n; i++) {
		op->mark[i].mail.deliver = fence_mark;
		op->mark[i].worker = &iod->worker[i];
		op->mark[i].op = op;
		mailbox_post(&iod->worker[i].mail, &op->mark[i].mail);
	}
}

static int fence_store(struct op_job *job)
{
	const struct wire_fence *body = job->req->msg.body;

	return store_fence_add(job->worker->iod->store, le64toh(body->session));
}

static void fence_stored(struct op_job *job, int status)
{
	const struct wire_fence *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;

	if (status) {
		op_job_reply(job, status);
		return;
	}
	log_info(iod->log,
		 "session %016llx has ended, says the manager: what is still "
		 "under way of it is refused; nothing needs doing",
		 (unsigned long long)le64toh(body->session));
	rpc_server_fence(iod->server, le64toh(body->session));
	fence_workers(job->worker, job->req, le64toh(body->session));
	free(job);
}

void op_fence(struct worker *w, struct rpc_req *req)
{
	const struct wire_fence *body = req->msg.body;

	if (!body->session || le64toh(body->session) == session_of(req)->id)
		rpc_reply_status(req, -EINVAL);
	else
		op_job_start(w, req, fence_store, fence_stored);
}

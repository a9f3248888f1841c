/* SPDX-License-Identifier: BSD-2-Clause */
/* op_job.c - replies, and requests that may wait for the disk. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"
#include "server/op/op_int.h"

void op_reply(struct rpc_req *req, const void *body, size_t body_len,
	      const void *tail, size_t len, unsigned int flags)
{
	struct wire_out *out = rpc_reply_begin(req);

	wire_put(out, body, body_len);
	if (len)
		wire_put(out, tail, len);
	rpc_reply_end(req, 0, flags);
	rpc_reply_send(req);
}

static void job_deliver(struct mailbox_item *mail)
{
	struct op_job *job = container_of(mail, struct op_job, mail);
	struct iod_session *ses = job->ses;

	rpc_req_leave_from(job->req, RPC_DISK, job->work.item.began);
	job->finish(job, job->status);
	session_work_end(ses);
}

static void job_run(struct disk_work *work)
{
	struct op_job *job = container_of(work, struct op_job, work);

	job->status = session_is_stale(job->ses) ? -ESTALE : job->block(job);
	mailbox_post(&job->worker->mail, &job->mail);
}

void op_job_start(struct worker *w, struct rpc_req *req,
		  enum disk_work_kind kind, int (*block)(struct op_job *job),
		  void (*finish)(struct op_job *job, int status))
{
	struct op_job *job = malloc(sizeof(*job));

	if (!job) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	*job = (struct op_job){ .worker = w,
				.req = req,
				.ses = session_of(req),
				.block = block,
				.finish = finish,
				.work = { .run = job_run },
				.mail = { .deliver = job_deliver } };
	session_work_begin(job->ses);
	rpc_req_enter(req, RPC_DISK);
	disk_pool_run(w->iod->pool, job->ses->disk_client, kind, &job->work);
}

void op_job_reply(struct op_job *job, int status)
{
	rpc_reply_status(job->req, status);
	free(job);
}

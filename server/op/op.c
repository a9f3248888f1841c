/* SPDX-License-Identifier: BSD-2-Clause */
/* op.c - the table of operations, replies, and requests that may wait for the disk. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"
#include "server/copy/copies.h"
#include "server/op/op.h"

#define ROLE(r) (1u << WIRE_ROLE_##r)
#define ANYONE (ROLE(CLIENT) | ROLE(MGR) | ROLE(IOD))

static const struct iod_op ops[] = {
	[WIRE_PING] = { op_ping, ANYONE },
	[WIRE_STATFS] = { op_statfs, ANYONE },
	[WIRE_READ] = { op_read, ANYONE },
	[WIRE_WRITE] = { op_write, ANYONE },
	[WIRE_RESIZE] = { op_resize, ROLE(MGR), SYNC_CHANGE },
	[WIRE_SYNC] = { op_sync, ANYONE },
	[WIRE_GETSIZE] = { op_getsize, ANYONE, SYNC_READ },
	[WIRE_REMOVE] = { op_remove, ROLE(MGR), SYNC_CHANGE },
	[WIRE_FENCE] = { op_fence, ROLE(MGR), SYNC_CONTROL },
	[WIRE_READ_LIST] = { op_read, ANYONE },
	[WIRE_WRITE_LIST] = { op_write, ANYONE },
	[WIRE_OBJECTS] = { op_objects, ROLE(MGR), SYNC_READ },
	[WIRE_CLAIM] = { op_claim, ROLE(MGR), SYNC_CONTROL },
	[WIRE_DISK] = { op_disk, ANYONE },
	[WIRE_LEASE] = { op_lease, ROLE(MGR) },
	[WIRE_FALLOCATE] = { op_fallocate, ANYONE, SYNC_CHANGE },
	[WIRE_COPY] = { op_copy, ANYONE, SYNC_CHANGE },
	[WIRE_SEEK] = { op_seek, ANYONE, SYNC_READ },
	[WIRE_BORROW] = { op_borrow, ROLE(CLIENT) },
	[WIRE_COUNTER] = { op_counter, ROLE(CLIENT), SYNC_CHANGE },
	[WIRE_PLACE] = { op_place, ROLE(CLIENT), SYNC_CHANGE },
	[WIRE_SHARE] = { op_share, ROLE(CLIENT) },
};

const struct iod_op *iod_op_find(unsigned int op)
{
	if (op >= sizeof(ops) / sizeof(ops[0]) || !ops[op].run)
		return NULL;
	return &ops[op];
}

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

static void job_deliver(struct mail *mail)
{
	struct op_job *job = container_of(mail, struct op_job, mail);
	struct iod_session *ses = job->ses;

	rpc_req_leave_from(job->req, RPC_DISK, job->work.item.began);
	job->finish(job, job->status);
	session_finish(ses);
}

static void job_run(struct sync_work *work)
{
	struct op_job *job = container_of(work, struct op_job, work);

	job->status = session_stale(job->ses) ? -ESTALE : job->block(job);
	mailbox_post(&job->worker->mail, &job->mail);
}

void op_job_start(struct worker *w, struct rpc_req *req,
		  int (*block)(struct op_job *job),
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
	session_begin(job->ses);
	rpc_req_enter(req, RPC_DISK);
	sync_pool_run(w->iod->pool, job->ses->turn, iod_op_find(req->op)->kind,
		      &job->work);
}

void op_job_reply(struct op_job *job, int status)
{
	rpc_reply_status(job->req, status);
	free(job);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* flushing.c - a flush of one object by the pool. */
#include "server/state/flushing.h"

#include "common/util/container.h"

static void flushed(struct mail *mail)
{
	struct flushing *f = container_of(mail, struct flushing, mail);

	rpc_req_leave(f->req, RPC_FLUSH);
	f->done(f, marks_flush_end(&f->ses->marks, f->ses->worker->iod->store,
				   &f->marks, f->status));
}

static void flush_done(struct sync_wait *wait, int status)
{
	struct flushing *f = container_of(wait, struct flushing, wait);

	f->status = status;
	mailbox_post(&f->ses->worker->mail, &f->mail);
}

void flushing_start(struct flushing *f, struct iod_session *ses,
		    struct store_obj *obj)
{
	f->ses = ses;
	rpc_req_enter(f->req, RPC_FLUSH);
	f->wait.done = flush_done;
	f->mail.deliver = flushed;
	marks_flush_begin(&ses->marks, store_obj_handle(obj), &f->marks);
	sync_pool_flush(ses->worker->iod->pool, ses->turn, obj, &f->wait);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_sync.c - SYNC: when it is answered, all earlier writes to the objects are on stable storage.
 * One flush of an object serves all requests that wait for it.  If another flush met an error, SYNC
 * also reports it, once to each session that had written (dirty_objects.h).  Several objects are
 * opened by the pool, because each of their directories may have to be read from the disk.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"
#include "server/op/op_int.h"

struct sync_op;
struct sync_one {
	struct flush_wait wait;
	struct sync_op *op;
	struct dirty_objects_flush flush;
};

struct sync_op {
	struct worker *worker;
	struct rpc_req *req;
	struct iod_session *ses;
	uint32_t n;
	atomic_uint left;
	atomic_int status; /* the first error, or 0 */
	struct disk_work work;
	struct mailbox_item mail;
	struct sync_one one[];
};

static void sync_answer(struct mailbox_item *mail)
{
	struct sync_op *op = container_of(mail, struct sync_op, mail);
	int status = atomic_load(&op->status);

	rpc_req_leave(op->req, RPC_FLUSH);
	for (uint32_t i = 0; i < op->n; i++)
		status = dirty_objects_flush_end(&op->ses->dirty,
						 op->worker->iod->store,
						 &op->one[i].flush, status);
	rpc_reply_status(op->req, status);
	session_unref(op->ses);
	free(op);
}

/* Records the result of one part.  The last part posts the reply to the worker's thread. */
static void sync_part(struct sync_op *op, int status)
{
	int none = 0;

	if (status)
		atomic_compare_exchange_strong(&op->status, &none, status);
	if (atomic_fetch_sub(&op->left, 1) == 1)
		mailbox_post(&op->worker->mail, &op->mail);
}

static void sync_done(struct flush_wait *wait, int status)
{
	sync_part(((struct sync_one *)wait)->op, status);
}

static void sync_object(struct sync_op *op, struct sync_one *one)
{
	struct iod *iod = op->worker->iod;
	struct store_obj *obj;
	int rc;

	rc = store_obj_get(iod->store, one->flush.key, false, &obj);
	if (rc) {
		one->flush.all = rc == -ENOENT;
		sync_part(op, rc == -ENOENT ? 0 : rc);
		return;
	}
	one->wait.done = sync_done;
	one->op = op;
	store_obj_flush(obj, iod->pool, op->ses->disk_client, &one->wait);
	store_obj_put(obj);
}

/* Runs on the worker's thread or on one of the pool. */
static void sync_all(struct disk_work *work)
{
	struct sync_op *op = container_of(work, struct sync_op, work);

	for (uint32_t i = 0; i < op->n; i++)
		sync_object(op, &op->one[i]);
	sync_part(op, 0);
}

void op_sync(struct worker *w, struct rpc_req *req)
{
	const struct wire_objects *body = req->msg.body;
	const le64 *handle = req->msg.tail[0].ptr;
	uint32_t i, n = le32toh(body->n);
	struct sync_op *op;

	op = malloc(sizeof(*op) + n * sizeof(op->one[0]));
	if (!op) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	op->worker = w;
	op->req = req;
	op->ses = session_of(req);
	/* does not count as running: a fence need not wait for it */
	op->ses->refs++;
	op->n = n;
	rpc_req_enter(req, RPC_FLUSH);
	op->mail.deliver = sync_answer;
	atomic_init(&op->left, n + 1);
	atomic_init(&op->status, 0);
	for (i = 0; i < n; i++)
		dirty_objects_flush_begin(&op->ses->dirty,
					  request_key(req, handle[i]),
					  &op->one[i].flush);
	op->work.run = sync_all;
	if (n == 1)
		sync_all(&op->work);
	else
		disk_pool_run(w->iod->pool, op->ses->disk_client, DISK_FLUSH,
			      &op->work);
}

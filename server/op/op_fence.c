/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_fence.c - FENCE: rejects sessions from now on, also after a restart of the iod.  When the
 * FENCE is answered, no earlier request of these sessions is running.
 *
 * The sessions are fenced in memory first, on all workers.  When their running requests have
 * ended, the fence is written to the disk.  If that fails, the sessions stay refused, but the
 * answer is -EAGAIN, and the manager repeats the FENCE until it is durable.  With
 * WIRE_FN_MEMORY nothing is written to the disk.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"
#include "server/once/change_records.h"
#include "server/op/op_int.h"

struct fence_op {
	struct session_end ending;
	struct worker *worker;
	struct rpc_req *req;
};

static bool request_names_session(const struct rpc_req *req, uint64_t id)
{
	const struct wire_fence *body = req->msg.body;
	const le64 *session = req->msg.tail[0].ptr;

	for (uint32_t i = 0; i < le32toh(body->n); i++)
		if (le64toh(session[i]) == id)
			return true;
	return false;
}

static bool is_in_memory_only(const struct rpc_req *req)
{
	const struct wire_fence *body = req->msg.body;

	return le32toh(body->flags) & WIRE_FN_MEMORY;
}

static int write_fences(struct op_job *job)
{
	return store_fence_write(job->worker->iod->store);
}

static void finish_write_fences(struct op_job *job, int status)
{
	op_job_reply(job, status ? -EAGAIN : 0);
}

static bool session_ends(const struct session_end *e,
			 const struct iod_session *ses)
{
	return request_names_session(
		container_of(e, const struct fence_op, ending)->req, ses->id);
}

static bool order_ends(const void *e, uint64_t session)
{
	const struct session_end *ending = e;

	return request_names_session(
		container_of(ending, const struct fence_op, ending)->req,
		session);
}

/* Objects lent to an evicted session are still to be replaced.  A restarted iod would not
 * replace them, so the answer is -EAGAIN until they are. */
static bool has_pending_evictions(const struct fence_op *op)
{
	const struct wire_fence *body = op->req->msg.body;

	return le32toh(body->flags) & WIRE_FN_EVICT &&
	       loan_evictions_pending(op->worker->iod->loans);
}

/* Their clients do not ask about changes any more. */
static void drop_change_records(struct iod *iod, const struct rpc_req *req)
{
	const struct wire_fence *body = req->msg.body;
	const le64 *session = req->msg.tail[0].ptr;

	for (uint32_t i = 0; i < le32toh(body->n); i++)
		change_records_end_session(iod->change_records,
					   le64toh(session[i]));
}

static void on_sessions_ended(struct session_end *e)
{
	struct fence_op *op = container_of(e, struct fence_op, ending);

	drop_change_records(op->worker->iod, op->req);
	if (has_pending_evictions(op))
		rpc_reply_status(op->req, -EAGAIN);
	else if (is_in_memory_only(op->req))
		rpc_reply_status(op->req, 0);
	else
		op_job_start(op->worker, op->req, DISK_CONTROL, write_fences,
			     finish_write_fences);
	free(op);
}

static int mark_durable_fence(struct iod *iod, uint64_t id)
{
	log_info(iod->log,
		 "session %016llx has ended, says the manager: what is still "
		 "under way of it is refused; nothing needs doing",
		 (unsigned long long)id);
	return store_fence_mark(iod->store, id);
}

/* From now on the sessions are refused.  0, or an error: repeat it. */
static int mark_fences(struct iod *iod, const struct rpc_req *req)
{
	const struct wire_fence *body = req->msg.body;
	const le64 *session = req->msg.tail[0].ptr;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < le32toh(body->n); i++) {
		uint64_t id = le64toh(session[i]);

		rc = is_in_memory_only(req) ? 0 : mark_durable_fence(iod, id);
		if (le32toh(body->flags) & WIRE_FN_EVICT)
			loan_session_evict(iod->loans, id);
		rpc_server_fence(iod->server, id);
		loan_session_end(iod->loans, id);
	}
	return rc;
}

void op_fence(struct worker *w, struct rpc_req *req)
{
	struct fence_op *op;

	if (request_names_session(req, session_of(req)->id)) {
		rpc_reply_status(req, -EINVAL);
		return;
	}
	op = mark_fences(w->iod, req) ? NULL : malloc(sizeof(*op));
	if (!op) {
		rpc_reply_status(req, -EAGAIN);
		return;
	}
	op->ending.ends = session_ends;
	op->ending.ends_order = order_ends;
	op->ending.done = on_sessions_ended;
	op->worker = w;
	op->req = req;
	if (!session_end_start(&op->ending, w))
		return;
	rpc_reply_status(req, -EAGAIN);
	free(op);
}

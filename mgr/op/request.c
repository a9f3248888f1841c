/* SPDX-License-Identifier: BSD-2-Clause */
/* request.c - runs a request in a transaction and sees to its reply. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "op.h"
#include "reply.h"
#include "session.h"

static void request_free(struct request *req)
{
	LIST_REMOVE(req, all);
	free(req);
}

void request_drop(struct request *req)
{
	rpc_timer_clear(req->mgr->ctx, &req->timer);
	request_free(req);
}

static void reply_now(struct request *req, int status)
{
	rpc_reply_end(req->rpc, status, RPC_REEXECUTE);
	rpc_reply_send(req->rpc);
	request_free(req);
}

void request_fail(struct request *req, int status)
{
	rpc_reply_begin(req->rpc);
	reply_now(req, status);
}

static void reply_redirect(struct op *op)
{
	const struct ns *ns = &op->mgr->ns;
	struct wire_path_rep body = {
		.path_len = htole32((uint32_t)ns->redirect_len),
		.which = htole32(op->ns.which),
	};

	op->out = rpc_reply_begin(op->rpc);
	wire_put(op->out, &body, sizeof(body));
	wire_put(op->out, ns->redirect, ns->redirect_len);
	reply_now(op->req, WIRE_REDIRECT);
}

static struct request *request_of_item(struct flusher_item *item)
{
	return (struct request *)(void *)((char *)item -
					  offsetof(struct request, item));
}

static void reply_durable(struct flusher_item *item)
{
	struct request *req = request_of_item(item);

	rpc_reply_send(req->rpc);
	request_free(req);
}

/* rc: of what was put into the transaction.  Returns it, or of the commit. */
static int commit(struct op *op, int rc, struct flusher_item *item)
{
	if (rc) {
		ns_abort(&op->mgr->ns);
		return rc;
	}
	rc = mgr_commit(op->mgr, item);
	if (!rc)
		session_recorded(op->rpc->session);
	return rc;
}

static void finish(struct op *op)
{
	struct mgr *mgr = op->mgr;
	int rc;

	if (!store_changed(mgr->st)) {
		ns_abort(&mgr->ns);
		reply_now(op->req, 0);
		return;
	}
	rpc_reply_end(op->rpc, 0, 0);
	op->req->item.durable = reply_durable;
	rc = commit(op, reply_record(mgr, op->rpc), &op->req->item);
	if (rc)
		request_fail(op->req, rc);
}

/* The file is known to be busy from here on; the iods hear of it when the
 * intent is durable. */
static void start_job(struct op *op)
{
	const struct intent *in = &op->req->intent;
	struct job *job = job_find(op->mgr, in->handle);
	int rc;

	if (job) { /* a question for its size */
		ns_abort(&op->mgr->ns);
		job_wait(job, op->req);
		return;
	}
	job = resize_new(op->mgr, in);
	rc = job ? reply_record_job(op->mgr, op->rpc, in->id) : -ENOMEM;
	rc = commit(op, rc, job ? resize_item(job) : NULL);
	if (!rc) {
		resize_adopt(job, op->req);
		return;
	}
	if (job)
		job_free(job);
	request_fail(op->req, rc);
}

/* Another request may be at the same question already. */
static void ask(struct op *op)
{
	struct mgr *mgr = op->mgr;
	struct job *job = job_find(mgr, op->ns.wait);
	int rc = 0;

	if (!job)
		rc = getsize_start(mgr, op->ns.wait, &job);
	if (rc)
		request_fail(op->req, rc == -ENOENT ? -ESTALE : rc);
	else
		job_wait(job, op->req);
}

static void wait_for_job(struct op *op)
{
	struct job *job = job_find(op->mgr, op->ns.wait);

	if (job)
		job_wait(job, op->req);
	else
		request_fail(op->req, -EIO);
}

static void conclude(struct op *op, int rc)
{
	if (rc == 0) {
		finish(op);
		return;
	}
	if (rc == OP_JOB) {
		start_job(op);
		return;
	}
	ns_abort(&op->mgr->ns);
	switch (rc) {
	case NS_REDIRECT:
		reply_redirect(op);
		break;
	case NS_BUSY:
		wait_for_job(op);
		break;
	case NS_ASK:
		ask(op);
		break;
	case OP_ABORT:
		rpc_req_abort(op->rpc);
		request_free(op->req);
		break;
	case OP_LATER:
		break;
	default:
		request_fail(op->req, rc);
	}
}

void request_run(struct request *req)
{
	struct mgr *mgr = req->mgr;
	struct op op = { .mgr = mgr, .req = req, .rpc = req->rpc };
	op_fn *fn = op_find(req->rpc->op);
	int rc = req->result;

	if (!fn)
		rc = -ENOSYS;
	if (!rc)
		rc = ns_begin(&mgr->ns);
	if (rc) {
		request_fail(req, rc);
		return;
	}
	op.out = rpc_reply_begin(req->rpc);
	op.ns = (struct ns_op){ .ns = &mgr->ns,
				.cred = session_cred(req->rpc->session),
				.session = session_id(req->rpc->session),
				.now = clock_wall(),
				.asked = req->asked,
				.truncated = req->truncated };
	conclude(&op, fn(&op));
}

static void reply_kept(struct request *req, const struct reply_rec *rec)
{
	struct wire_hdr hdr;
	struct wire_out *out = rpc_reply_begin(req->rpc);

	memcpy(&hdr, rec->bytes, sizeof(hdr));
	wire_put(out, rec->bytes + sizeof(hdr), rec->len - sizeof(hdr));
	rpc_reply_end(req->rpc, -(int)le32toh(hdr.status), 0);
	rpc_reply_send(req->rpc);
	request_free(req);
}

/*
 * Sent again, and the rpc layer has no reply: it may have been executed in an
 * earlier life, be a truncation under way, or an OPEN whose truncation is done.
 */
static void run_again(struct request *req)
{
	struct reply_rec rec;
	struct job *job;
	int rc;

	rc = reply_find(req->mgr, req->rpc, &rec);
	if (rc == -ENOENT) {
		request_run(req);
	} else if (rc) {
		request_fail(req, rc);
	} else if (rec.kind == REPLY_DONE) {
		reply_kept(req, &rec);
	} else {
		job = resize_find(req->mgr, rec.job);
		req->truncated = true;
		if (job)
			resize_adopt(job, req);
		else
			request_run(req);
	}
}

void request_take(struct mgr *mgr, struct rpc_req *rpc)
{
	struct request *req = calloc(1, sizeof(*req));

	if (!req) {
		rpc_reply_status(rpc, -ENOMEM);
		return;
	}
	req->mgr = mgr;
	req->rpc = rpc;
	LIST_INSERT_HEAD(&mgr->requests, req, all);
	if (le16toh(rpc->msg.hdr->flags) & WIRE_F_REPLAY)
		run_again(req);
	else
		request_run(req);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_execution.c - the way of a request through the manager, from the message to the reply,
 * in the order of its steps.  For example a CREATE, which is an OPEN with O_CREAT:
 *
 *   request_take()      the message was checked; the request waits for the turn of its user
 *   request_turn()      its turn, called by the run queue (mgr_parts.c opens it); a repeated
 *                       request may have a stored reply
 *   run_op()            for which user, and may it; a transaction begins
 *   op_open()           op/file_ops.c: message -> arguments; ns/open.c: permissions, rows; the
 *                       body of the reply
 *   conclude_op()       done, or the request has to wait for something else first
 *   finish_op()         stores the reply in the transaction, checks the deadline, commits
 *   run_turn()          mgr.c: mgr_submit() starts the flush of the log (state/flusher.c), and
 *                       flusher_collect() calls the next step when it is done
 *   answer_durable()    request/request.c: the log is flushed; sends the reply
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/auth/auth.h"
#include "mgr/jobs/jobs.h"
#include "mgr/locks/lock_waits.h"
#include "mgr/mgr_service.h"
#include "mgr/op/mgr_ops.h"
#include "mgr/request/caller.h"
#include "mgr/request/reply.h"
#include "mgr/session/caps.h"

static void run_op(struct request *req);
static void run_replay(struct request *req);
static struct mgr_op make_op(struct request *req, const struct ns_cred *cred);
static void conclude_op(struct mgr_op *op, int rc);
static void conclude_undone(struct mgr_op *op, int rc);
static void finish_op(struct mgr_op *op);
static void finish_part(struct mgr_op *op);
static void start_truncation(struct mgr_op *op);

/* A part of the request is done, so it must be completed, whatever has happened since. */
static bool has_begun(const struct request *req)
{
	return req->part && req->pause.begun;
}

/* ---- from the network into the run queue, and out of it ---- */

void request_take(struct mgr *mgr, struct rpc_req *rpc)
{
	struct request *req = calloc(1, sizeof(*req));
	struct run_owner owner;

	if (!req) {
		rpc_reply_status(rpc, -ENOMEM);
		return;
	}
	req->mgr = mgr;
	req->rpc = rpc;
	req->run = run_op;
	LIST_INSERT_HEAD(&mgr->requests, req, all);
	if (request_is_waited_for(req))
		gather_back(&mgr->gather, &caller_of(rpc->session)->gather);
	owner = request_owner(req);
	rpc_req_enter(rpc, RPC_QUEUE);
	run_queue_admit(mgr->queue, &req->turn, &owner);
}

uint64_t request_turn(struct run_item *item)
{
	struct request *req = container_of(item, struct request, turn);
	const struct ns *ns = &req->mgr->ns;
	uint64_t before = ns_work(ns);

	rpc_req_leave(req->rpc, RPC_QUEUE);
	if (req->lock_wait)
		lock_wait_end(req);
	if (!req->paused && request_is_replay(req))
		run_replay(req);
	else if (!req->paused || req->result || has_begun(req) ||
		 clock_now() < req->rpc->deadline)
		run_op(req);
	else
		answer_late(req, "the other requests of its user; if it needs "
				 "many turns, see if its path is long");
	return ns_work(ns) - before + 1;
}

/* ---- a repeated request ---- */

/* An open that was answered: repeats the reply with a new capability. */
static void repeat_open(struct request *req, const struct reply_rec *rec)
{
	struct mgr_op op = make_op(req, NULL);

	answer_now(req, caps_rebuild_reply(&op, rec));
}

/* The request became a truncation, which is running or done. */
static void continue_truncation(struct request *req,
				const struct reply_rec *rec)
{
	struct file_job *job = resize_find(req->mgr, rec->job);

	req->truncated = reply_job_handle(rec);
	if (job)
		resize_set_owner(job, req);
	else
		run_op(req);
}

/*
 * The rpc layer has no reply, or none that may be used twice.  The request may have been executed,
 * in this run of the manager or an earlier one.
 */
static void run_replay(struct request *req)
{
	struct reply_rec rec;
	int rc = reply_find(req->mgr, req->rpc, &rec);

	if (rc == -ENOENT)
		run_op(req);
	else if (rc)
		answer_error(req, rc);
	else if (rec.kind == REPLY_DONE)
		answer_stored(req, &rec);
	else if (rec.kind == REPLY_OPENED)
		repeat_open(req, &rec);
	else
		continue_truncation(req, &rec);
}

/* ---- the user for whom a request runs ---- */

struct asker {
	struct ns_cred cred;
	uint32_t groups[WIRE_GROUPS_MAX];
};

/*
 * Whether the request needs no groups.  No caller waits for these requests, so no list of groups
 * could be requested from it.  They concern only open files.
 */
static bool ignores_groups(const struct rpc_req *rpc)
{
	const struct wire_lock *lock = rpc->msg.body;

	if (rpc->op == WIRE_LOCK)
		return le32toh(lock->type) == WIRE_L_UNLOCK;
	return rpc->op == WIRE_RELEASE || rpc->op == WIRE_DECLARE ||
	       rpc->op == WIRE_COPYSETS;
}

static int find_own_user(struct rpc_req *rpc, struct asker *who)
{
	struct caller *caller = caller_of(rpc->session);
	int rc = ignores_groups(rpc) ? 0
				     : session_groups_resolve(caller->mgr, rpc);

	who->cred = caller->cred;
	return rc;
}

/* -EPERM: the session may not act for other users. */
static int find_asker(struct rpc_req *rpc, struct asker *who)
{
	struct caller *caller = caller_of(rpc->session);
	const struct wire_as *as = rpc->msg.as;
	int rc = 0;

	if (!as)
		return find_own_user(rpc, who);
	if (!caller->root || !caller->place.speaks)
		return -EPERM;
	who->cred = (struct ns_cred){ le32toh(as->uid), le32toh(as->gid),
				      le32toh(as->ngroups), who->groups };
	for (uint32_t i = 0; i < who->cred.ngroups; i++)
		who->groups[i] = le32toh(rpc->msg.groups[i]);
	if (wire_groups_listed(who->groups, who->cred.ngroups))
		rc = session_groups_find(caller, wire_groups_list(who->groups),
					 &who->cred);
	exports_squash(&caller->mgr->conf.exports, &caller->place, &who->cred);
	return rc;
}

/* Whether the request may run, and for whom. */
static int check_asker(struct request *req, struct asker *who)
{
	int rc = req->result;

	if (!rc)
		rc = find_asker(req->rpc, who);
	return rc ? rc
		  : exports_check(&caller_of(req->rpc->session)->place,
				  req->rpc->op, &req->rpc->msg);
}

/* ---- one execution ---- */

/* The reply is ready for its body. */
static struct mgr_op make_op(struct request *req, const struct ns_cred *cred)
{
	const struct caller *caller = caller_of(req->rpc->session);

	return (struct mgr_op){
		.mgr = req->mgr,
		.req = req,
		.rpc = req->rpc,
		.out = rpc_reply_begin(req->rpc),
		.begun = has_begun(req),
		.ns = {
			.ns = &req->mgr->ns,
			.pause = &req->pause,
			.cred = cred,
			.session = caller->id,
			.declares = caller->declares,
			.now = clock_wall(),
			.features = rpc_session_info(req->rpc->session)->features,
			.asked = req->asked,
			.truncated = req->truncated,
		},
	};
}

/* A request that has begun was allowed then; its operation knows the user. */
static void run_op(struct request *req)
{
	struct mgr *mgr = req->mgr;
	op_fn *fn = op_find(req->rpc->op);
	bool begun = has_begun(req);
	struct asker who;
	struct mgr_op op;
	int rc = fn ? 0 : -ENOSYS;

	if (!rc && !begun)
		rc = check_asker(req, &who);
	if (!rc)
		rc = ns_begin(&mgr->ns);
	if (rc) {
		answer_error(req, rc);
		return;
	}
	op = make_op(req, begun ? NULL : &who.cred);
	conclude_op(&op, fn(&op));
}

/* rc: the result of the operation. */
static void conclude_op(struct mgr_op *op, int rc)
{
	if (rc != NS_PAUSED && rc != NS_PART)
		ns_pause_end(&op->mgr->ns, &op->req->pause);
	if (rc == 0)
		finish_op(op);
	else if (rc == NS_PART)
		finish_part(op);
	else if (rc == OP_JOB)
		start_truncation(op);
	else
		conclude_undone(op, rc);
}

/* ---- what a commit needs ---- */

/* Allowed while the disk is nearly full. */
static bool frees_space(unsigned int op)
{
	return op == WIRE_UNLINK || op == WIRE_UNLINK2 || op == WIRE_RMDIR ||
	       op == WIRE_TRUNCATE || op == WIRE_RELEASE || op == WIRE_LOCK ||
	       op == WIRE_LOCK_ANY || op == WIRE_DECLARE;
}

static int check_space(const struct mgr_op *op)
{
	if (op->begun)
		return 0;
	switch (store_check_space(op->mgr->st)) {
	case STORE_SPACE_OK:
		return 0;
	case STORE_SPACE_LOW:
		return frees_space(op->rpc->op) ? 0 : -ENOSPC;
	default:
		return -ENOSPC;
	}
}

/*
 * rc: the result of the writes in the transaction.  Returns it, or the result of the commit.  A
 * request that was reported as failed, while it or the manager waited, is not executed.
 */
static int commit_op(struct mgr_op *op, int rc, struct flusher_item *item)
{
	if (!rc && !op->begun && rpc_req_late(op->rpc))
		rc = -ETIMEDOUT;
	rc = mgr_end_transaction(op->mgr, rc, item);
	if (!rc)
		caller_note_recorded(op->rpc->session);
	return rc;
}

/* Without a row for the session, its end would not drop these holds. */
static void drop_declared_holds(const struct mgr_op *op)
{
	const struct caller *caller = caller_of(op->rpc->session);

	if (op->rpc->op == WIRE_DECLARE && !caller->stored)
		while (ns_forget_holds(&op->mgr->ns, caller->id))
			; /* at most the holds of one message */
}

/* ---- the operation is done ---- */

/*
 * No reply is recorded.  If the request is repeated in this run of the manager, the rpc layer has
 * its reply; after a restart it is executed again, which is safe because it changed nothing.
 */
static void finish_unchanged(struct mgr_op *op)
{
	ns_abort(&op->mgr->ns);
	if (op->ns.unsure)
		getsize_start_in_background(op->mgr, op->ns.unsure);
	if (op->ns.declared)
		ns_all_declared(&op->mgr->ns, op->ns.session);
	if (op->ns.kept)
		answer_once(op->req);
	else
		answer_now(op->req, 0);
}

/*
 * After a restart, the manager waits for sessions that declare.  So that flag must be durable
 * before the manager has a hold of the session only in memory.
 */
static bool may_answer_before_flush(const struct mgr_op *op)
{
	const struct caller *caller = caller_of(op->rpc->session);

	return op->ns.held && caller->declares == caller->declaring;
}

/*
 * The reply does not wait for the flush.  An unlink that removes the file comes later in the log,
 * so a crash that loses the hold also loses the unlink.  No reply is recorded: a repeated open
 * makes a second hold, which lasts until the session ends.
 */
static void finish_hold(struct mgr_op *op)
{
	struct mgr *mgr = op->mgr;
	int rc = commit_op(op, caller_record(mgr, op->rpc->session), NULL);

	if (rc)
		answer_error(op->req, rc);
	else
		answer_now(op->req, 0);
}

/*
 * No client waits for the reply to a close.  So it is flushed together with later changes, and
 * executed however late it is; the id of an open is never issued again.  No reply is recorded, see
 * op_release().
 */
static void finish_release(struct mgr_op *op)
{
	int rc;

	rpc_reply_end(op->rpc, 0, 0);
	op->req->item.durable = answer_durable;
	rpc_req_enter(op->rpc, RPC_FLUSH);
	rc = mgr_commit_deferred(op->mgr, &op->req->item);
	if (rc)
		answer_error(op->req, rc);
}

/* The reply is sent once it is durable. */
static void finish_change(struct mgr_op *op)
{
	struct mgr *mgr = op->mgr;
	int rc;

	rpc_reply_end(op->rpc, 0, op->opened ? RPC_REEXECUTE : 0);
	op->req->item.durable = answer_durable;
	rpc_req_enter(op->rpc, RPC_FLUSH);
	rc = commit_op(op, reply_record(mgr, op->rpc, op->opened),
		       &op->req->item);
	if (rc) {
		drop_declared_holds(op);
		answer_error(op->req, rc);
	} else if (op->ns.declared) {
		ns_all_declared(&mgr->ns, op->ns.session);
	}
}

static void finish_op(struct mgr_op *op)
{
	int rc = 0;

	if (!store_changed(op->mgr->st) && !op->req->part) {
		finish_unchanged(op);
		return;
	}
	if (may_answer_before_flush(op)) {
		finish_hold(op);
		return;
	}
	rc = check_space(op);
	if (rc)
		conclude_undone(op, rc);
	else if (op->rpc->op == WIRE_RELEASE)
		finish_release(op);
	else
		finish_change(op);
}

/*
 * Commits a part of the operation.  No reply is stored for it: if the manager crashes, the client
 * repeats the request from its start.  The reply to the last part waits until all parts are
 * flushed.
 */
static void finish_part(struct mgr_op *op)
{
	int rc = check_space(op);

	if (rc) {
		conclude_undone(op, rc);
		return;
	}
	rc = commit_op(op, caller_record(op->mgr, op->rpc->session), NULL);
	if (rc) {
		answer_error(op->req, rc);
		return;
	}
	op->req->part = true;
	request_requeue(op->req);
}

/* ---- the operation needs a truncation first ---- */

/*
 * Records the intent of a truncation, and creates its job.  From then on the file is busy.  The
 * iods get the truncation after the intent is durable.
 */
static void record_truncation(struct mgr_op *op)
{
	const struct intent *in = &op->req->intent;
	struct file_job *job = resize_new(op->mgr, in);
	int rc;

	rc = job ? reply_record_job(op->mgr, op->rpc, in) : -ENOMEM;
	rc = commit_op(op, rc, job ? resize_item(job) : NULL);
	if (!rc) {
		resize_set_owner(job, op->req);
		return;
	}
	if (job)
		job_free(job);
	answer_error(op->req, rc);
}

static void start_truncation(struct mgr_op *op)
{
	const struct intent *in = &op->req->intent;
	struct file_job *other = job_find(op->mgr, in->handle);
	int rc = check_space(op);

	if (rc) {
		conclude_undone(op, rc);
		return;
	}
	if (!other && call_limit_permits(op->req, in->dist.pcount)) {
		record_truncation(op);
		return;
	}
	ns_abort(&op->mgr->ns);
	if (other) /* a question for its size */
		job_wait(other, op->req);
	else
		call_limit_wait(op->req);
}

/* ---- the operation changed nothing: it failed, or waits ---- */

/* Another request may already have asked the same question. */
static void ask_size(struct mgr_op *op)
{
	struct file_job *job = job_find(op->mgr, op->ns.wait);
	int rc = 0;

	if (!job)
		rc = getsize_start(op->req, op->ns.wait, &job);
	if (rc == -EAGAIN)
		call_limit_wait(op->req);
	else if (rc)
		answer_error(op->req, rc == -ENOENT ? -ESTALE : rc);
	else
		job_wait(job, op->req);
}

static void wait_for_job(struct mgr_op *op)
{
	struct file_job *job = job_find(op->mgr, op->ns.wait);

	if (job)
		job_wait(job, op->req);
	else
		answer_error(op->req, -EIO);
}

/* Nothing is committed. */
static void conclude_undone(struct mgr_op *op, int rc)
{
	drop_declared_holds(op);
	ns_abort(&op->mgr->ns);
	switch (rc) {
	case NS_REDIRECT:
		answer_redirect(op->req, op->ns.which);
		break;
	case NS_BUSY:
		wait_for_job(op);
		break;
	case NS_ASK:
		ask_size(op);
		break;
	case OP_ABORT:
		rpc_req_abort(op->rpc);
		request_drop(op->req);
		break;
	case NS_PAUSED:
		request_requeue(op->req);
		break;
	case OP_LATER:
		break;
	default:
		answer_error(op->req, rc);
	}
}

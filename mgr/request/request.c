/* SPDX-License-Identifier: BSD-2-Clause */
/* request.c - a request in the run queue, where it waits, and the ways in which it ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/request/caller.h"
#include "mgr/request/request.h"

/* ---- the run queue ---- */

/*
 * The user whose budget the request uses.  If a session may not act for other users, this
 * is the session's user, even if the request names another one; run_op() rejects it later.
 */
struct run_owner request_owner(const struct request *req)
{
	const struct caller *caller = caller_of(req->rpc->session);
	const struct wire_as *as = req->rpc->msg.as;
	bool speaks = as && caller->root && caller->place.speaks;

	return (struct run_owner){
		.uid = speaks ? le32toh(as->uid)
			      : rpc_session_info(req->rpc->session)->cred.uid,
		.session = caller->id,
	};
}

int request_queue(struct request *req)
{
	const struct run_owner owner = request_owner(req);
	int rc = run_queue_put(req->mgr->queue, &req->turn, &owner);

	if (rc)
		return rc;
	req->paused = true;
	rpc_req_enter(req->rpc, RPC_QUEUE);
	return 0;
}

void request_requeue(struct request *req)
{
	int rc = request_queue(req);

	if (rc)
		answer_error(req, rc);
}

/* ---- answers ---- */

void request_drop(struct request *req)
{
	rpc_timer_clear(req->mgr->ctx, &req->timer);
	if (req->turn.session)
		run_queue_leave(req->mgr->queue, &req->turn);
	ns_pause_end(&req->mgr->ns, &req->pause);
	LIST_REMOVE(req, all);
	free(req);
}

static void send_reply(struct flusher_item *item)
{
	struct request *req = container_of(item, struct request, item);

	rpc_reply_send(req->rpc);
	request_drop(req);
}

/* Sends the reply, which is built, once the changes that the request has read may be revealed. */
static void answer_read(struct request *req)
{
	struct rpc_req *rpc = req->rpc;

	req->item.durable = send_reply;
	if (!flusher_add_read(req->mgr->fl, &req->item))
		rpc_req_enter(rpc, RPC_FLUSH);
}

void answer_now(struct request *req, int status)
{
	rpc_reply_end(req->rpc, status, RPC_REEXECUTE);
	answer_read(req);
}

void answer_once(struct request *req)
{
	rpc_reply_end(req->rpc, 0, 0);
	answer_read(req);
}

void answer_error(struct request *req, int status)
{
	rpc_reply_begin(req->rpc);
	answer_now(req, status);
}

void answer_late(struct request *req, const char *what)
{
	const struct rpc_session_info *info = rpc_session_info(
		req->rpc->session);

	if (!rpc_req_may_wait(req->rpc) && !rpc_req_late(req->rpc)) {
		answer_error(req, -EINPROGRESS);
		return;
	}
	log_error(req->mgr->log,
		  "%s (%s): %s was not answered in time: it waited for %s",
		  info->peer, info->cred.name, wire_op_name(req->rpc->op),
		  what);
	answer_error(req, -ETIMEDOUT);
}

void answer_redirect(struct request *req, unsigned int which)
{
	const struct ns *ns = &req->mgr->ns;
	struct wire_path_rep body = {
		.path_len = htole32((uint32_t)ns->redirect_len),
		.which = htole32(which),
	};
	struct wire_out *out = rpc_reply_begin(req->rpc);

	wire_put(out, &body, sizeof(body));
	wire_put(out, ns->redirect, ns->redirect_len);
	answer_now(req, WIRE_REDIRECT);
}

void answer_stored(struct request *req, const struct reply_rec *rec)
{
	struct wire_hdr hdr;
	struct wire_out *out = rpc_reply_begin(req->rpc);

	memcpy(&hdr, rec->bytes, sizeof(hdr));
	wire_put(out, rec->bytes + sizeof(hdr), rec->len - sizeof(hdr));
	if (le16toh(hdr.flags) & WIRE_F_CAPS)
		rpc_reply_caps(req->rpc);
	rpc_reply_end(req->rpc, -(int)le32toh(hdr.status), 0);
	answer_read(req);
}

void answer_durable(struct flusher_item *item)
{
	struct request *req = container_of(item, struct request, item);

	if (req->rpc->op == WIRE_DECLARE)
		caller_of(req->rpc->session)->declares = true;
	if (request_is_waited_for(req))
		gather_answered(&req->mgr->gather,
				&caller_of(req->rpc->session)->gather,
				clock_now());
	send_reply(item);
}

/* ---- park: a queue of requests that wait, each with a timer ---- */

void park_leave(struct request *req)
{
	rpc_timer_clear(req->mgr->ctx, &req->timer);
	TAILQ_REMOVE(&req->park->waiting, req, wait);
	rpc_req_leave(req->rpc, req->park->part);
	req->park = NULL;
}

static struct request *request_of(struct rpc_timer *timer)
{
	return container_of(timer, struct request, timer);
}

static void on_deadline(struct rpc_timer *timer)
{
	struct request *req = request_of(timer);
	struct park *park = req->park;

	park_leave(req);
	park->late(park, req);
}

void park_init(struct park *park, enum rpc_part part,
	       void (*late)(struct park *park, struct request *req))
{
	TAILQ_INIT(&park->waiting);
	park->part = part;
	park->late = late;
}

void park_wait_until(struct park *park, struct request *req, uint64_t when)
{
	req->park = park;
	rpc_req_enter(req->rpc, park->part);
	TAILQ_INSERT_TAIL(&park->waiting, req, wait);
	req->timer.fire = on_deadline;
	if (when > req->rpc->deadline)
		when = req->rpc->deadline;
	rpc_timer_set(req->mgr->ctx, &req->timer, when);
}

void park_wait(struct park *park, struct request *req)
{
	park_wait_until(park, req, rpc_req_wait_until(req->rpc));
}

void park_hurry(struct request *req)
{
	if (!req->park)
		return;
	rpc_timer_clear(req->mgr->ctx, &req->timer);
	rpc_timer_set(req->mgr->ctx, &req->timer, clock_now());
}

struct request *park_take(struct park *park)
{
	struct request *req = TAILQ_FIRST(&park->waiting);

	if (req)
		park_leave(req);
	return req;
}

bool park_run(struct mgr *mgr, struct park *park,
	      bool (*may)(const struct mgr *mgr))
{
	uint64_t before = ns_work(&mgr->ns);

	for (unsigned int n = 0; may(mgr) && !park_empty(park); n++) {
		if (n + ns_work(&mgr->ns) - before >= NS_TURN_STEPS)
			return true;
		request_run(park_take(park));
	}
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* queue.c - requests in the run queue of the manager. */
#include "mgr/request/caller.h"
#include "mgr/request/request.h"

/*
 * The user whose budget the request uses.  If a session may not act for others, that is
 * the session's user, whatever user the request names; run() rejects such a request.
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

void request_again(struct request *req)
{
	int rc = request_queue(req);

	if (rc)
		answer_error(req, rc);
}

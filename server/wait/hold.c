/* SPDX-License-Identifier: BSD-2-Clause */
/* hold.c - requests that wait for late changes. */
#include "server/wait/hold.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"

struct hold {
	struct worker *worker;
	struct rpc_req *req;
	uint64_t handle;
	struct gate_wait wait;
	struct mail mail;
	struct rpc_timer timer; /* fires at rpc_req_patience() */
	LIST_ENTRY(hold) link;
};

static void hold_free(struct hold *h)
{
	rpc_timer_clear(h->worker->ctx, &h->timer);
	LIST_REMOVE(h, link);
	free(h);
}

/* Called from any thread. */
static void go(struct gate_wait *wait)
{
	struct hold *h = container_of(wait, struct hold, wait);

	mailbox_post(&h->worker->mail, &h->mail);
}

static void deliver(struct mail *mail)
{
	struct hold *h = container_of(mail, struct hold, mail);
	struct rpc_req *req = h->req;
	struct worker *w = h->worker;

	if (atomic_load(&w->iod->stop))
		return;
	hold_free(h);
	rpc_req_leave(req, RPC_QUEUE);
	w->iod->run(w, req);
}

static void too_late(struct rpc_timer *timer)
{
	struct hold *h = container_of(timer, struct hold, timer);
	struct rpc_req *req = h->req;
	const struct rpc_session_info *info = rpc_session_info(req->session);
	const struct log *log = h->worker->iod->log;
	uint64_t handle = h->handle;

	if (!gate_cancel(store_gate(h->worker->iod->store), h->handle,
			 &h->wait))
		return;
	hold_free(h);
	if (!rpc_req_may_wait(req) && !rpc_req_late(req)) {
		rpc_reply_status(req, -EINPROGRESS);
		return;
	}
	log_warn(log,
		 "%s (%s): %s of object %016llx was not answered in time: it "
		 "waited for a change that is late, which the disk or a "
		 "client's network holds up",
		 info->peer, info->cred.name, wire_op_name(req->op),
		 (unsigned long long)handle);
	rpc_reply_status(req, -ETIMEDOUT);
}

bool hold_request(struct worker *w, struct rpc_req *req, uint64_t handle)
{
	struct hold *h = malloc(sizeof(*h));

	if (!h) {
		rpc_reply_status(req, -ENOMEM);
		return true;
	}
	*h = (struct hold){ .worker = w,
			    .req = req,
			    .handle = handle,
			    .wait = { .go = go },
			    .mail = { .deliver = deliver },
			    .timer = { .fire = too_late } };
	LIST_INSERT_HEAD(&w->holds, h, link);
	rpc_timer_set(w->ctx, &h->timer, rpc_req_patience(req));
	rpc_req_enter(req, RPC_QUEUE);
	if (gate_wait(store_gate(w->iod->store), handle, &h->wait))
		return true;
	rpc_req_leave(req, RPC_QUEUE);
	hold_free(h);
	return false;
}

void hold_free_all(struct worker *w)
{
	struct hold *h;

	while ((h = LIST_FIRST(&w->holds))) {
		gate_cancel(store_gate(w->iod->store), h->handle, &h->wait);
		hold_free(h);
	}
}

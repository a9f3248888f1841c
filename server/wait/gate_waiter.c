/* SPDX-License-Identifier: BSD-2-Clause */
/* gate_waiter.c - requests that wait for late changes. */
#include "server/wait/gate_waiter.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"

struct gate_waiter {
	struct worker *worker;
	struct rpc_req *req;
	struct object_key key;
	struct gate_wait wait;
	struct mailbox_item mail;
	struct rpc_timer timer; /* fires at rpc_req_wait_until() */
	LIST_ENTRY(gate_waiter) link;
};

static void free_waiter(struct gate_waiter *waiter)
{
	rpc_timer_clear(waiter->worker->ctx, &waiter->timer);
	LIST_REMOVE(waiter, link);
	free(waiter);
}

/* Called from any thread. */
static void on_gate_open(struct gate_wait *wait)
{
	struct gate_waiter *waiter = container_of(wait, struct gate_waiter,
						  wait);

	mailbox_post(&waiter->worker->mail, &waiter->mail);
}

static void on_mail(struct mailbox_item *mail)
{
	struct gate_waiter *waiter = container_of(mail, struct gate_waiter,
						  mail);
	struct rpc_req *req = waiter->req;
	struct worker *w = waiter->worker;

	if (atomic_load(&w->iod->stop))
		return;
	free_waiter(waiter);
	rpc_req_leave(req, RPC_QUEUE);
	w->iod->run(w, req);
}

static void on_deadline(struct rpc_timer *timer)
{
	struct gate_waiter *waiter = container_of(timer, struct gate_waiter,
						  timer);
	struct rpc_req *req = waiter->req;
	const struct rpc_session_info *info = rpc_session_info(req->session);
	const struct log *log = waiter->worker->iod->log;
	struct object_key key = waiter->key;

	if (!gate_cancel(store_gate(waiter->worker->iod->store), waiter->key,
			 &waiter->wait))
		return;
	free_waiter(waiter);
	if (!rpc_req_may_wait(req) && !rpc_req_late(req)) {
		rpc_reply_status(req, -EINPROGRESS);
		return;
	}
	log_warn(log,
		 "%s (%s): %s of object %s was not answered in time: it "
		 "waited for a change that is late, which the disk or a "
		 "client's network holds up",
		 info->peer, info->cred.name, wire_op_name(req->op),
		 object_key_text(key).s);
	rpc_reply_status(req, -ETIMEDOUT);
}

bool gate_waiter_start(struct worker *w, struct rpc_req *req,
		       struct object_key key)
{
	struct gate_waiter *waiter = malloc(sizeof(*waiter));

	if (!waiter) {
		rpc_reply_status(req, -ENOMEM);
		return true;
	}
	*waiter = (struct gate_waiter){ .worker = w,
					.req = req,
					.key = key,
					.wait = { .go = on_gate_open },
					.mail = { .deliver = on_mail },
					.timer = { .fire = on_deadline } };
	LIST_INSERT_HEAD(&w->gate_waiters, waiter, link);
	rpc_timer_set(w->ctx, &waiter->timer, rpc_req_wait_until(req));
	rpc_req_enter(req, RPC_QUEUE);
	if (gate_wait(store_gate(w->iod->store), key, &waiter->wait))
		return true;
	rpc_req_leave(req, RPC_QUEUE);
	free_waiter(waiter);
	return false;
}

void gate_waiters_free(struct worker *w)
{
	struct gate_waiter *waiter;

	while ((waiter = LIST_FIRST(&w->gate_waiters))) {
		gate_cancel(store_gate(w->iod->store), waiter->key,
			    &waiter->wait);
		free_waiter(waiter);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* park.c - a queue of requests, each with a timer. */
#include "mgr/request/park.h"
#include "mgr/request/request.h"

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

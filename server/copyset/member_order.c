/* SPDX-License-Identifier: BSD-2-Clause */
/* member_order.c - see member_order.h. */
#include "server/copyset/member_order.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/copyset/assignments.h"
#include "server/once/change_records.h"

static void on_turn_mail(struct mailbox_item *mail)
{
	struct member_order *order = container_of(mail, struct member_order,
						  mail);

	rpc_req_leave(order->req, RPC_QUEUE);
	order->start(order);
}

static void on_granted(struct range_lock *lock)
{
	struct member_order *order = container_of(lock, struct member_order,
						  lock);

	mailbox_post(&order->worker->mail, &order->mail);
}

void member_order_begin(struct member_order *order, struct object_key key,
			uint64_t from, uint64_t end)
{
	struct worker *w = order->worker;

	order->session = le64toh(order_body(order->req)->session);
	order->stored = false;
	order->lock = (struct range_lock){
		.object = key, .from = from, .end = end, .granted = on_granted
	};
	order->mail.deliver = on_turn_mail;
	order->ses = session_of(order->req);
	session_work_begin(order->ses);
	LIST_INSERT_HEAD(&w->orders, order, link);
	rpc_req_enter(order->req, RPC_QUEUE);
	if (range_lock_acquire(w->iod->ranges, &order->lock))
		on_turn_mail(&order->mail);
}

static void wake_fences(struct worker *w)
{
	STAILQ_HEAD(, session_idle_wait)
	waits = STAILQ_HEAD_INITIALIZER(waits);
	struct session_idle_wait *wait;

	STAILQ_CONCAT(&waits, &w->order_waits);
	while ((wait = STAILQ_FIRST(&waits))) {
		STAILQ_REMOVE_HEAD(&waits, link);
		wait->idle(wait);
	}
}

void member_order_end(struct member_order *order)
{
	struct worker *w = order->worker;
	struct iod_session *ses = order->ses;

	range_lock_release(w->iod->ranges, &order->lock);
	LIST_REMOVE(order, link);
	wake_fences(w);
	session_work_end(ses);
}

/* The store does not know the sessions that are fenced in memory only (WIRE_FN_MEMORY). */
static bool is_fenced(struct iod *iod, uint64_t session)
{
	return store_fence_has(iod->store, session) ||
	       rpc_server_has_fenced(iod->server, session);
}

int member_order_enter(struct iod *iod, const struct rpc_req *req,
		       uint64_t *expiry)
{
	const struct wire_order *body = order_body(req);
	struct copyset_ref ref = wire_copyset(req->msg.hdr);
	int rc = copyset_enter_order(iod->assignments, ref,
				     le32toh(body->primary));

	if (rc)
		return rc;
	if (is_fenced(iod, le64toh(body->session))) {
		copyset_leave(iod->assignments, ref.id);
		return -ESTALE;
	}
	*expiry = atomic_load_explicit(&iod->lease.until, memory_order_acquire);
	return 0;
}

int member_order_check(struct iod *iod, const struct rpc_req *req)
{
	uint64_t expiry;
	int rc = member_order_enter(iod, req, &expiry);

	if (!rc)
		copyset_leave(iod->assignments, wire_copyset(req->msg.hdr).id);
	return rc;
}

/* An order does not say how long its client waits. */
void member_order_add_stored(struct member_order *order, uint64_t bytes)
{
	const struct wire_order *body = order_body(order->req);
	const struct change_id id = { .session = le64toh(body->session),
				      .origin = le32toh(body->origin),
				      .slot = le32toh(body->slot),
				      .seq = le64toh(body->seq) };
	uint64_t until = clock_boot() + RPC_WAIT_MAX_MS * CLOCK_NS_PER_MS;

	order->stored = true;
	if (body->total)
		change_records_add(order->worker->iod->change_records, &id,
				   bytes, le64toh(body->total), until);
}

bool member_orders_wait(struct worker *w,
			bool (*is_of)(const void *arg, uint64_t session),
			const void *arg, struct session_idle_wait *wait)
{
	struct member_order *order;

	LIST_FOREACH(order, &w->orders, link) {
		if (is_of(arg, order->session)) {
			STAILQ_INSERT_TAIL(&w->order_waits, wait, link);
			return true;
		}
	}
	return false;
}

void member_orders_open(struct worker *w)
{
	LIST_INIT(&w->orders);
	STAILQ_INIT(&w->order_waits);
}

void member_orders_free(struct worker *w)
{
	struct member_order *order;

	while ((order = LIST_FIRST(&w->orders))) {
		LIST_REMOVE(order, link);
		free(order);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_order.h - the orders (WIRE_ORDER) of primaries that this iod carries out.
 *
 * An order waits for earlier ones of the same bytes.  The primary sends overlapping orders one after
 * another, but an order of an earlier process of the primary may still be in progress.
 *
 * A FENCE waits for the orders of its sessions, because an order that has passed its checks may be in
 * a queue for the disk.
 *
 * Only the worker's thread calls these functions, except member_order_enter().
 */
#ifndef MEMBER_ORDER_H
#define MEMBER_ORDER_H

#include "server/copyset/range_lock.h"
#include "server/state/worker.h"

static inline const struct wire_order *order_body(const struct rpc_req *req)
{
	return req->msg.body;
}

/*
 * An order, from its arrival to its answer.  The caller owns it, sets the public members, and keeps
 * it until member_order_end().
 */
struct member_order {
	struct worker *worker;
	struct rpc_req *req; /* its priv is the order */
	/* the order has its turn; called on the worker's thread, possibly by member_order_begin() */
	void (*start)(struct member_order *order);
	/* a part of it was made */
	bool stored;
	/* for start() */
	struct disk_work work;
	struct mailbox_item mail;
	int status;
	/* private */
	struct iod_session *ses; /* of the primary */
	uint64_t session; /* of the client for which the primary sends it */
	struct range_lock lock;
	LIST_ENTRY(member_order) link;
};

/* Its change lies in the bytes from `from` to `end` of the object; from < end. */
void member_order_begin(struct member_order *order, struct object_key key,
			uint64_t from, uint64_t end);
/* The caller frees the order. */
void member_order_end(struct member_order *order);

/*
 * Call it immediately before a change for the order req, on any thread.  0: the change may be made;
 * it is in progress until copyset_leave(), and must not begin after *expiry, the end of the lease
 * (clock_boot()).  -ESTALE: the client's session is fenced.  Other errors: as for
 * copyset_enter_order().
 */
int member_order_enter(struct iod *iod, const struct rpc_req *req,
		       uint64_t *expiry);

/* Whether member_order_enter() would succeed now: 0, or its error. */
int member_order_check(struct iod *iod, const struct rpc_req *req);

/* `bytes` bytes of a write were stored: records them (change_records.h).  Before copyset_leave(). */
void member_order_add_stored(struct member_order *order, uint64_t bytes);

/*
 * True: an order of a session for which is_of(arg, session) holds is in progress; wait->idle() will
 * be called when an order of the worker has ended.  False: there is none.
 */
bool member_orders_wait(struct worker *w,
			bool (*is_of)(const void *arg, uint64_t session),
			const void *arg, struct session_idle_wait *wait);

void member_orders_open(struct worker *w);
/* At the end of the iod: frees the orders in progress, which malloc() made. */
void member_orders_free(struct worker *w);

#endif

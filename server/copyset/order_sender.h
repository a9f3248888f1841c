/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order_sender.h - sends a change to the other members of a copyset (WIRE_ORDER), as their primary.
 *
 * A change with many pieces, or with more bytes than fit into a message, takes several orders; each
 * member gets them one after another.  An order that a member has not answered is repeated until it
 * answers, or until the version of the copyset changes: a member that fails stops the change.
 *
 * Only the worker's thread calls these functions.
 */
#ifndef ORDER_SENDER_H
#define ORDER_SENDER_H

#include "server/copyset/assignments.h"
#include "server/state/worker.h"

/* What is ordered: the fields of struct wire_order. */
struct ordered_change {
	enum wire_order_kind kind;
	uint64_t arg[2];
	uint32_t flags;
	/*
	 * WRITE: len bytes of buf, for the pieces from skip bytes into the first one on; total: of
	 * the request.  mem is the memory that has buf; NULL: the bytes go in messages.
	 */
	const struct store_seg *seg;
	uint64_t skip;
	const void *buf;
	size_t len;
	uint64_t total;
	struct rail_mem *mem;
};

struct order_sender;

/* The orders for one member. */
struct member_call {
	struct order_sender *sender;
	uint32_t iod;
	/* WRITE: bytes that it has, and the place of the next ones */
	size_t pos;
	const struct store_seg *seg;
	uint64_t skip;
	/* the order in flight: its bytes, and the place after them */
	size_t part;
	const struct store_seg *next_seg;
	uint64_t next_skip;
	struct iovec data;
	struct rail_mem *area;
	struct rpc_call call;
	struct rpc_timer again;
};

/* The caller owns it, sets the public members, and keeps them and *change until done(). */
struct order_sender {
	struct worker *worker;
	const struct rpc_req *req; /* the request that the change is for */
	struct object_key key;
	struct copyset_ref copyset;
	struct copyset_targets targets;
	struct ordered_change change;
	/*
	 * Called on the worker's thread, possibly by order_sender_start(), unless the iod stops.
	 * status: 0: all members have made the change; else the first error.
	 */
	void (*done)(struct order_sender *sender, int status);
	/* whether a member may have made a part of the change */
	bool made;
	/* private */
	unsigned int busy;
	int status;
	struct member_call member[COPYSET_COPIES_MAX - 1];
};

void order_sender_start(struct order_sender *sender);
/* At the end of the iod, instead of done(): the connections are closed. */
void order_sender_abandon(struct order_sender *sender);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_int.h - what LOCK and LOCK_ANY share: requests that wait, in lock_waits.c. */
#ifndef LOCKS_INT_H
#define LOCKS_INT_H

#include "mgr/locks/lock_blocks.h"
#include "mgr/locks/lock_waits.h"

/* A request that waits, or that may look again and waits for its turn. */
struct lock_wait {
	struct request *req;
	struct lock_waiter *waiter;
	struct lock_at at;
	bool single; /* a LOCK's */
	LIST_ENTRY(lock_wait) link;
};

/* Until req->patience.  At most WIRE_LOCK_ANY_MAX.  OP_LATER, -ENOMEM */
int lock_wait_begin(struct request *req, const struct lock_rec *blockers,
		    unsigned int n);
/* Answers EINTR. */
void lock_wait_cancel(struct request *req);
/* Those of one session: how many LOCKs are among them, and which they are. */
unsigned int lock_waits_of(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_first(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_next(const struct lock_wait *wait);

/* ---- lock.c ---- */

/* Until when a request waits: its answer must be there before its client stops. */
uint64_t lock_until(const struct request *req, uint32_t most_ms);
struct ns_lock_args lock_args(const struct op *op, const struct wire_lock *l);

/* ---- lock_any.c ---- */

/* The locks that a LOCK_ANY names. */
unsigned int any_locks(const struct request *req,
		       const struct wire_lock **lock);

#endif

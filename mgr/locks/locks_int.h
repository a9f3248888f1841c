/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_int.h - what LOCK and LOCK_ANY share: waiting requests, in lock_waits.c. */
#ifndef LOCKS_INT_H
#define LOCKS_INT_H

#include "mgr/locks/lock_blocks.h"
#include "mgr/locks/lock_waits.h"

/* A request that waits for a lock, or that may check again and waits for its turn. */
struct lock_wait {
	struct request *req;
	struct lock_waiter *waiter;
	struct lock_wait_place at;
	bool single; /* of a LOCK */
	LIST_ENTRY(lock_wait) link;
};

/* Waits until req->patience.  n: at most WIRE_LOCK_ANY_MAX.  OP_LATER, -ENOMEM */
int lock_wait_begin(struct request *req, const struct lock_rec *blockers,
		    unsigned int n);
/* Answers EINTR. */
void lock_wait_cancel(struct request *req);
/* The waits of one session: the number of LOCKs among them, and the waits themselves. */
unsigned int lock_waits_of(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_first(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_next(const struct lock_wait *wait);

#endif

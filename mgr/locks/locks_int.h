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
	bool single; /* the wait of a LOCK, not of a LOCK_ANY */
	LIST_ENTRY(lock_wait) link;
};

/*
 * Makes the request wait until req->patience. n is at most WIRE_LOCK_ANY_MAX. Returns OP_LATER or
 * -ENOMEM.
 */
int lock_wait_begin(struct request *req, const struct lock_rec *blockers,
		    unsigned int n);
/* Ends the wait with the answer EINTR. */
void lock_wait_cancel(struct request *req);
/* The waits of one session: the number of LOCKs among them, and the waits themselves. */
unsigned int lock_waits_of(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_first(const struct mgr *mgr, uint64_t session);
struct lock_wait *lock_waits_next(const struct lock_wait *wait);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range_lock.h - puts the overlapping changes of an object in order: first come, first served.
 *
 * A lock covers a range of bytes of one object.  It waits for each lock that came earlier, is not
 * released and overlaps it, whether that lock is held or waits itself:
 *
 *	1	|--- held ---|
 *	2		|--- waits for 1 ---|
 *	3			       |--- waits for 2 ---|
 *	4					      	    |--- held ---|
 *
 * If 3 did not wait for 2, later locks could overtake a lock of the whole object for ever.  A change
 * takes one lock, and a lock waits only for earlier ones, so no circle of waits is possible.
 *
 * Nothing is allocated for a lock: the callers' changes are the bound of the locks.  Time per call:
 * O(n log m) for n overlapping locks of m.  All functions may be called from any thread.
 */
#ifndef RANGE_LOCK_H
#define RANGE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/buffer/itree.h"
#include "common/dist/object_key.h"

#define RANGE_LOCK_END UINT64_MAX /* the whole object: from 0 to here */

struct range_locks;

/* The caller owns it, and keeps it unchanged from range_lock_acquire() to range_lock_release(). */
struct range_lock {
	struct object_key object;
	uint64_t from, end; /* bytes; from < end */
	/*
	 * The lock is held now.  Called if range_lock_acquire() returned false, once, on the thread
	 * that releases the last lock waited for.  Must not block; may call range_lock_release().
	 */
	void (*granted)(struct range_lock *lock);
	/* private */
	struct itree_node range;
	unsigned int waits_for; /* locks */
	SLIST_ENTRY(range_lock) link;
};

/* The locks of all objects of one iod.  -ENOMEM. */
int range_locks_open(struct range_locks **locks);
/* Locks that are not released are forgotten: no granted() is called.  NULL: nothing happens. */
void range_locks_close(struct range_locks *locks);

/*
 * True: the lock is held.  False: it waits, and granted() will be called, possibly before this
 * function returns.
 */
bool range_lock_acquire(struct range_locks *locks, struct range_lock *lock);
/*
 * Releases a lock that is held, and calls granted() of the locks that are held now.  A lock that
 * waits cannot be released: a change that is given up releases its lock when it is granted.
 */
void range_lock_release(struct range_locks *locks, struct range_lock *lock);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_blocks.h - which locks block which waits.  A wait is at one or more locks.  When
 * one of these is released or changed, the wait can be taken out.  The work at that
 * moment does not depend on the number of waits at the lock.
 */
#ifndef LOCK_BLOCKS_H
#define LOCK_BLOCKS_H

#include <stdbool.h>

#include "mgr/db/lock_rows.h"

struct lock_blocks;
struct lock_link;

/* All zero if the wait is at no lock. */
struct lock_wait_place {
	struct lock_link *links;
	unsigned int n;
};

int lock_blocks_open(struct lock_blocks **out);
/* The caller has ended all waits. */
void lock_blocks_close(struct lock_blocks *blocks);
/*
 * Appends the wait to the queue of each of n locks. Returns 0, or -ENOMEM: then the wait is in no
 * queue.
 */
int lock_blocks_enter(struct lock_blocks *blocks, struct lock_wait_place *at,
		      const struct lock_rec *rec, unsigned int n);
void lock_blocks_leave(struct lock_blocks *blocks, struct lock_wait_place *at);
/* Called when the lock was released or changed. */
void lock_blocks_removed(struct lock_blocks *blocks,
			 const struct lock_rec *rec);
/* Returns whether the wait may have ended: it waits at no lock, or one of its locks is gone. */
bool lock_blocks_may_have_ended(const struct lock_wait_place *at);
/*
 * Takes out one of the waits that have lost one of their locks, in order. Returns NULL if there is
 * none.
 */
struct lock_wait_place *lock_blocks_take(struct lock_blocks *blocks);

#endif

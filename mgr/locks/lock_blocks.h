/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_blocks.h - which locks are in the way of somebody.  A wait is at one or more locks; when
 * one of these is let go or changed, the wait can be taken out.  What is done at once does
 * not depend on the number of the waits at a lock.
 */
#ifndef LOCK_BLOCKS_H
#define LOCK_BLOCKS_H

#include <stdbool.h>

#include "mgr/db/locks.h"

struct lock_blocks;
struct lock_link;

/* Zeros: it is at no lock. */
struct lock_at {
	struct lock_link *links;
	unsigned int n;
};

int lock_blocks_open(struct lock_blocks **out);
/* No wait is left. */
void lock_blocks_close(struct lock_blocks *blocks);
/* Behind the others at each of n locks.  -ENOMEM: at none. */
int lock_blocks_enter(struct lock_blocks *blocks, struct lock_at *at,
		      const struct lock_rec *rec, unsigned int n);
void lock_blocks_leave(struct lock_blocks *blocks, struct lock_at *at);
/* The lock is not there any more, or is another one. */
void lock_blocks_gone(struct lock_blocks *blocks, const struct lock_rec *rec);
/* True: it is at no lock, or one of its locks is gone. */
bool lock_blocks_may_end(const struct lock_at *at);
/* One of those of which a lock is gone, in their order; it leaves.  NULL: none. */
struct lock_at *lock_blocks_take(struct lock_blocks *blocks);

#endif

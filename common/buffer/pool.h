/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - registered transfer units, shared fairly.
 *
 * A pool is one block of registered memory cut into units of one size.  A
 * request that finds none free waits; units that come back go to the waiters,
 * one owner (a session) after the other, and within an owner in order of
 * arrival.  No owner holds more than its share, so that a client which does
 * not move its data cannot take them all.
 *
 * (The buffer manager of "PVFS over InfiniBand", ICPP 2003, section 4.2; its
 * zones of several sizes are pools side by side.)
 *
 * A pool belongs to one thread.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "transport.h"

struct pool;

struct unit {
	void *addr;
	size_t len;
	uint32_t lkey;
	/* private */
	struct pool_owner *owner;
	SLIST_ENTRY(unit) link;
};

struct unit_wait {
	/*
	 * The unit is the waiter's now.  Called from unit_put() or
	 * unit_wait_cancel(); may call any function of the pool.
	 */
	void (*ready)(struct unit_wait *wait, struct unit *unit);
	/* private */
	struct pool_owner *owner; /* NULL: does not wait */
	TAILQ_ENTRY(unit_wait) link;
};

/* Who units are shared among; zeroed, then pool_owner_init(). */
struct pool_owner {
	unsigned int held;
	TAILQ_HEAD(, unit_wait) waits;
	TAILQ_ENTRY(pool_owner) link;
	bool queued;
};

struct pool_attr {
	struct tp_dev *dev;
	size_t unit; /* bytes, a multiple of 4096 */
	unsigned int count;
	unsigned int share; /* units one owner may hold; 0: all */
};
struct pool_stats {
	unsigned int count, in_use;
	uint64_t gets, waits; /* units given; those that had to wait */
};

/* -EINVAL, -ENOMEM, or as tp_mr_reg(). */
int pool_open(const struct pool_attr *attr, struct pool **pool);
/* All units are back and nobody waits. */
void pool_close(struct pool *pool);
void pool_stats(const struct pool *pool, struct pool_stats *stats);

void pool_owner_init(struct pool_owner *owner);

/* NULL: none free, the owner has its share, or others wait already. */
struct unit *unit_get(struct pool *pool, struct pool_owner *owner);
/*
 * As unit_get(), but with NULL the owner waits and wait->ready() brings the
 * unit later.  wait stays the caller's, untouched until then.
 */
struct unit *unit_get_wait(struct pool *pool, struct pool_owner *owner,
			   struct unit_wait *wait);
/* Nothing happens if it does not wait. */
void unit_wait_cancel(struct pool *pool, struct unit_wait *wait);
void unit_put(struct pool *pool, struct unit *unit);

#endif

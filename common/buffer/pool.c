/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - a free list, and a ring of owners that wait. */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>

struct pool {
	SLIST_HEAD(, unit) free;
	unsigned int nfree, share;
	TAILQ_HEAD(, pool_owner) ring; /* with waiters and below their share */
	bool serving;
	struct pool_stats stats;
	struct unit *units;
	uint8_t *block;
	struct tp_mr *mr;
};

static void pool_cut(struct pool *pool, size_t unit)
{
	unsigned int i = pool->stats.count;

	while (i-- > 0) {
		struct unit *u = &pool->units[i];

		u->addr = pool->block + i * unit;
		u->len = unit;
		u->lkey = pool->mr->lkey;
		SLIST_INSERT_HEAD(&pool->free, u, link);
	}
	pool->nfree = pool->stats.count;
}

int pool_open(const struct pool_attr *attr, struct pool **out)
{
	struct pool *pool;
	size_t len;
	int rc;

	if (!attr->count || !attr->unit || attr->unit % 4096 ||
	    __builtin_mul_overflow(attr->unit, attr->count, &len))
		return -EINVAL;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	rc = -ENOMEM;
	pool->units = calloc(attr->count, sizeof(*pool->units));
	pool->block = aligned_alloc(4096, len);
	if (!pool->units || !pool->block)
		goto free_pool;
	rc = tp_mr_reg(attr->dev, pool->block, len, TP_LOCAL_WRITE, &pool->mr);
	if (rc)
		goto free_pool;
	SLIST_INIT(&pool->free);
	TAILQ_INIT(&pool->ring);
	pool->stats.count = attr->count;
	pool->share = attr->share ? attr->share : attr->count;
	pool_cut(pool, attr->unit);
	*out = pool;
	return 0;
free_pool:
	free(pool->block);
	free(pool->units);
	free(pool);
	return rc;
}

void pool_close(struct pool *pool)
{
	tp_mr_dereg(pool->mr);
	free(pool->block);
	free(pool->units);
	free(pool);
}

void pool_stats(const struct pool *pool, struct pool_stats *stats)
{
	*stats = pool->stats;
	stats->in_use = pool->stats.count - pool->nfree;
}

void pool_owner_init(struct pool_owner *owner)
{
	*owner = (struct pool_owner){ 0 };
	TAILQ_INIT(&owner->waits);
}

static struct unit *pool_take(struct pool *pool, struct pool_owner *owner)
{
	struct unit *unit = SLIST_FIRST(&pool->free);

	SLIST_REMOVE_HEAD(&pool->free, link);
	pool->nfree--;
	pool->stats.gets++;
	unit->owner = owner;
	owner->held++;
	return unit;
}

struct unit *unit_get(struct pool *pool, struct pool_owner *owner)
{
	if (!pool->nfree || owner->held >= pool->share ||
	    !TAILQ_EMPTY(&owner->waits) || !TAILQ_EMPTY(&pool->ring))
		return NULL;
	return pool_take(pool, owner);
}

/* On the ring is who has a waiter and room in its share. */
static void pool_requeue(struct pool *pool, struct pool_owner *owner)
{
	bool want = !TAILQ_EMPTY(&owner->waits) && owner->held < pool->share;

	if (want == owner->queued)
		return;
	if (want)
		TAILQ_INSERT_TAIL(&pool->ring, owner, link);
	else
		TAILQ_REMOVE(&pool->ring, owner, link);
	owner->queued = want;
}

struct unit *unit_get_wait(struct pool *pool, struct pool_owner *owner,
			   struct unit_wait *wait)
{
	struct unit *unit = unit_get(pool, owner);

	if (unit)
		return unit;
	pool->stats.waits++;
	wait->owner = owner;
	TAILQ_INSERT_TAIL(&owner->waits, wait, link);
	pool_requeue(pool, owner);
	return NULL;
}

/* One unit to the first owner of the ring, which then goes to its end. */
static void pool_serve_one(struct pool *pool)
{
	struct pool_owner *owner = TAILQ_FIRST(&pool->ring);
	struct unit_wait *wait = TAILQ_FIRST(&owner->waits);
	struct unit *unit;

	TAILQ_REMOVE(&pool->ring, owner, link);
	owner->queued = false;
	TAILQ_REMOVE(&owner->waits, wait, link);
	wait->owner = NULL;
	unit = pool_take(pool, owner);
	pool_requeue(pool, owner);
	wait->ready(wait, unit);
}

/* A unit put back by ready() is served here, not deeper in the stack. */
static void pool_serve(struct pool *pool)
{
	if (pool->serving)
		return;
	pool->serving = true;
	while (pool->nfree && !TAILQ_EMPTY(&pool->ring))
		pool_serve_one(pool);
	pool->serving = false;
}

void unit_wait_cancel(struct pool *pool, struct unit_wait *wait)
{
	struct pool_owner *owner = wait->owner;

	if (!owner)
		return;
	wait->owner = NULL;
	TAILQ_REMOVE(&owner->waits, wait, link);
	pool_requeue(pool, owner);
	pool_serve(pool);
}

void unit_put(struct pool *pool, struct unit *unit)
{
	struct pool_owner *owner = unit->owner;

	unit->owner = NULL;
	owner->held--;
	SLIST_INSERT_HEAD(&pool->free, unit, link);
	pool->nfree++;
	pool_requeue(pool, owner);
	pool_serve(pool);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* zone.c - free lists by size, and a ring of owners that wait. */
#include "common/buffer/zone.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALIGN 4096u

struct zone {
	size_t size;
	unsigned int count, nfree;
	/* only the thread that owns the zones writes them */
	atomic_uint used, most;
	SLIST_HEAD(, zone_buf) free;
};

struct zones {
	size_t left; /* bytes of all free buffers */
	TAILQ_HEAD(, zone_owner) ring; /* owners with waiting requests */
	bool serving;
	unsigned int n;
	struct zone zone[ZONES_MAX];
	size_t bytes;
	/* written as used */
	atomic_uint_least64_t gets, waits, bigger, chopped;
	struct zone_buf *bufs;
	uint8_t *block;
	struct rail_mem mem;
};

static void count_up(atomic_uint_least64_t *n)
{
	atomic_store_explicit(n,
			      atomic_load_explicit(n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static void note_use(struct zone *zone)
{
	unsigned int used = zone->count - zone->nfree;

	atomic_store_explicit(&zone->used, used, memory_order_relaxed);
	if (used > atomic_load_explicit(&zone->most, memory_order_relaxed))
		atomic_store_explicit(&zone->most, used, memory_order_relaxed);
}

size_t zones_bytes(const struct zones_attr *attr)
{
	size_t sum = 0, len, before = 0;
	unsigned int i;

	if (attr->n > ZONES_MAX)
		return 0;
	for (i = 0; i < attr->n; i++) {
		const struct zone_size *z = &attr->zone[i];

		if (!z->count || z->size % ALIGN || z->size <= before ||
		    __builtin_mul_overflow(z->size, z->count, &len) ||
		    __builtin_add_overflow(sum, len, &sum))
			return 0;
		before = z->size;
	}
	return sum;
}

static unsigned int count_all(const struct zones_attr *attr)
{
	unsigned int i, sum = 0;

	for (i = 0; i < attr->n; i++)
		sum += attr->zone[i].count;
	return sum;
}

static void cut_zone(struct zones *zs, struct zone *zone, struct zone_buf *bufs,
		     uint8_t *mem)
{
	unsigned int i = zone->count;

	SLIST_INIT(&zone->free);
	while (i-- > 0) {
		bufs[i].addr = mem + i * zone->size;
		bufs[i].len = zone->size;
		bufs[i].mem = &zs->mem;
		bufs[i].zone = zone;
		SLIST_INSERT_HEAD(&zone->free, &bufs[i], link);
	}
	zone->nfree = zone->count;
}

static void cut_all(struct zones *zs, const struct zones_attr *attr)
{
	struct zone_buf *bufs = zs->bufs;
	uint8_t *mem = zs->block;
	unsigned int i;

	zs->n = attr->n;
	for (i = 0; i < zs->n; i++) {
		struct zone *zone = &zs->zone[i];

		zone->size = attr->zone[i].size;
		zone->count = attr->zone[i].count;
		cut_zone(zs, zone, bufs, mem);
		bufs += zone->count;
		mem += zone->count * zone->size;
	}
}

int zones_open(const struct zones_attr *attr, struct zones **out)
{
	size_t bytes = zones_bytes(attr);
	struct zones *zs;
	int rc;

	if (!bytes)
		return -EINVAL;
	zs = calloc(1, sizeof(*zs));
	if (!zs)
		return -ENOMEM;
	rc = -ENOMEM;
	zs->bufs = calloc(count_all(attr), sizeof(*zs->bufs));
	zs->block = aligned_alloc(ALIGN, bytes);
	if (!zs->bufs || !zs->block)
		goto free_zones;
	rail_mem_init(&zs->mem, zs->block, bytes, TP_LOCAL_WRITE);
	rc = rail_mem_reg_all(&zs->mem, attr->rails);
	if (rc)
		goto free_zones;
	TAILQ_INIT(&zs->ring);
	zs->bytes = bytes;
	zs->left = bytes;
	cut_all(zs, attr);
	*out = zs;
	return 0;
free_zones:
	free(zs->block);
	free(zs->bufs);
	free(zs);
	return rc;
}

void zones_close(struct zones *zs)
{
	rail_mem_fini(&zs->mem);
	free(zs->block);
	free(zs->bufs);
	free(zs);
}

void zones_stats(const struct zones *zs, struct zones_stats *stats)
{
	unsigned int i;

	*stats = (struct zones_stats){
		.bytes = zs->bytes,
		.gets = atomic_load(&zs->gets),
		.waits = atomic_load(&zs->waits),
		.bigger = atomic_load(&zs->bigger),
		.chopped = atomic_load(&zs->chopped),
		.n = zs->n,
	};
	for (i = 0; i < zs->n; i++) {
		const struct zone *zone = &zs->zone[i];

		stats->zone[i] = (struct zone_use){
			.size = zone->size,
			.count = zone->count,
			.in_use = atomic_load(&zone->used),
			.most = atomic_load(&zone->most),
		};
	}
}

void zone_owner_init(struct zone_owner *owner)
{
	*owner = (struct zone_owner){ 0 };
	TAILQ_INIT(&owner->waits);
}

/* Chooses the zone that fits, or a bigger one, or the biggest smaller one with a free buffer. */
static struct zone *zone_choose(struct zones *zs, size_t want)
{
	unsigned int fit = 0, i;

	while (fit < zs->n - 1 && zs->zone[fit].size < want)
		fit++;
	for (i = fit; i < zs->n; i++) {
		if (zs->zone[i].nfree) {
			if (i > fit)
				count_up(&zs->bigger);
			return &zs->zone[i];
		}
	}
	count_up(&zs->chopped);
	for (i = fit - 1; !zs->zone[i].nfree; i--)
		;
	return &zs->zone[i];
}

/* The caller made sure that a buffer is free. */
static struct zone_buf *zone_take(struct zones *zs, struct zone_owner *owner,
				  size_t want)
{
	struct zone *zone = zone_choose(zs, want);
	struct zone_buf *buf = SLIST_FIRST(&zone->free);

	SLIST_REMOVE_HEAD(&zone->free, link);
	zs->left -= buf->len;
	count_up(&zs->gets);
	zone->nfree--;
	note_use(zone);
	buf->owner = owner;
	owner->held += buf->len;
	return buf;
}

/* The next owner that may get a free buffer. */
static struct zone_owner *zone_next(const struct zones *zs)
{
	struct zone_owner *owner;

	if (!zs->left)
		return NULL;
	TAILQ_FOREACH(owner, &zs->ring, link)
		if (owner->held < zs->left)
			return owner;
	return NULL;
}

static bool zone_may_take(const struct zones *zs,
			  const struct zone_owner *owner)
{
	return owner->held < zs->left && TAILQ_EMPTY(&owner->waits) &&
	       !zone_next(zs);
}

static void zone_requeue(struct zones *zs, struct zone_owner *owner)
{
	bool want = !TAILQ_EMPTY(&owner->waits);

	if (want == owner->queued)
		return;
	if (want)
		TAILQ_INSERT_TAIL(&zs->ring, owner, link);
	else
		TAILQ_REMOVE(&zs->ring, owner, link);
	owner->queued = want;
}

struct zone_buf *zone_get_wait(struct zones *zs, struct zone_owner *owner,
			       size_t want, struct zone_wait *wait)
{
	if (zone_may_take(zs, owner))
		return zone_take(zs, owner, want);
	count_up(&zs->waits);
	wait->want = want;
	wait->owner = owner;
	TAILQ_INSERT_TAIL(&owner->waits, wait, link);
	zone_requeue(zs, owner);
	return NULL;
}

/* Gives one buffer to owner, which then moves to the end of the ring. */
static void zone_serve_one(struct zones *zs, struct zone_owner *owner)
{
	struct zone_wait *wait = TAILQ_FIRST(&owner->waits);
	struct zone_buf *buf;

	TAILQ_REMOVE(&zs->ring, owner, link);
	owner->queued = false;
	TAILQ_REMOVE(&owner->waits, wait, link);
	wait->owner = NULL;
	buf = zone_take(zs, owner, wait->want);
	zone_requeue(zs, owner);
	wait->ready(wait, buf);
}

/* Also serves buffers that ready() puts back.  So ready() is not called recursively. */
static void zone_serve(struct zones *zs)
{
	struct zone_owner *owner;

	if (zs->serving)
		return;
	zs->serving = true;
	while ((owner = zone_next(zs)))
		zone_serve_one(zs, owner);
	zs->serving = false;
}

void zone_wait_cancel(struct zones *zs, struct zone_wait *wait)
{
	struct zone_owner *owner = wait->owner;

	if (!owner)
		return;
	wait->owner = NULL;
	TAILQ_REMOVE(&owner->waits, wait, link);
	zone_requeue(zs, owner);
	zone_serve(zs);
}

void zone_put(struct zones *zs, struct zone_buf *buf)
{
	struct zone_owner *owner = buf->owner;

	buf->owner = NULL;
	owner->held -= buf->len;
	SLIST_INSERT_HEAD(&buf->zone->free, buf, link);
	buf->zone->nfree++;
	note_use(buf->zone);
	zs->left += buf->len;
	zone_serve(zs);
}

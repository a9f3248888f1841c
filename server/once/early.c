/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.c - the changed places of each object, in a tree.  One client's changes must not cost
 * the others time, or what is known of their objects.  If there are too many places, the
 * objects with the most places count as changed everywhere.
 */
#include "server/once/early.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/hash_table.h"
#include "common/buffer/itree.h"
#include "common/util/random_id.h"

_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "offsets in a tree");

/* A range of bytes that was changed. */
struct place {
	struct itree_node node;
	uint64_t by; /* the session; 0: several, or none */
};

struct object {
	uint64_t key; /* key_of(handle) */
	struct itree places; /* they do not overlap */
	unsigned int n;
	UT_hash_handle hh;
};

struct early {
	atomic_bool on;
	uint64_t until;
	uint64_t secret; /* an odd random number */
	pthread_mutex_t lock; /* of the rest */
	struct object *objects;
	unsigned int n; /* places of all objects */
	/* places that an object may keep when room is needed */
	unsigned int most;
};

int early_open(struct early **out)
{
	struct early *e = calloc(1, sizeof(*e));
	int rc = e ? random_id(&e->secret) : -ENOMEM;

	if (rc) {
		free(e);
		return rc;
	}
	e->secret |= 1;
	atomic_init(&e->on, true);
	e->until = clock_after_ms(EARLY_MS);
	e->most = EARLY_MAX;
	pthread_mutex_init(&e->lock, NULL);
	*out = e;
	return 0;
}

/* Clients choose the handles.  With a secret factor they cannot choose which ones collide in
 * the table. */
static uint64_t key_of(const struct early *e, uint64_t handle)
{
	return handle * e->secret;
}

/* ---- places: the static functions below need the lock ---- */

static struct place *place_of(struct itree_node *node)
{
	return node ? container_of(node, struct place, node) : NULL;
}

static struct place *any(const struct object *o)
{
	return place_of(itree_next(&o->places, NULL, 0, UINT64_MAX));
}

static void take_out(struct early *e, struct object *o, struct place *place)
{
	itree_remove(&o->places, &place->node);
	o->n--;
	e->n--;
}

static void put_in(struct early *e, struct object *o, struct place *place)
{
	itree_insert(&o->places, &place->node);
	o->n++;
	e->n++;
}

static struct place *met(const struct object *o, uint64_t lo, uint64_t hi)
{
	return place_of(itree_next(&o->places, NULL, lo, hi));
}

static bool covers(const struct place *p, const struct place *all)
{
	return p && p->node.lo <= all->node.lo && all->node.hi <= p->node.hi &&
	       (p->by == all->by || !p->by);
}

/* Removes p and extends *all by its range. */
static void absorb(struct early *e, struct object *o, struct place *p,
		   struct place *all)
{
	take_out(e, o, p);
	if (p->node.lo < all->node.lo)
		all->node.lo = p->node.lo;
	if (p->node.hi > all->node.hi)
		all->node.hi = p->node.hi;
	if (p->by != all->by)
		all->by = 0;
	free(p);
}

/* Absorbs the places that overlap, and the adjacent ones of the same session. */
static void absorb_all(struct early *e, struct object *o, struct place *all)
{
	uint64_t lo, hi;
	struct place *p;

	while ((p = met(o, all->node.lo, all->node.hi)))
		absorb(e, o, p, all);
	lo = all->node.lo;
	hi = all->node.hi;
	p = lo ? met(o, lo - 1, lo) : NULL;
	if (p && p->by == all->by)
		absorb(e, o, p, all);
	p = hi < UINT64_MAX ? met(o, hi, hi + 1) : NULL;
	if (p && p->by == all->by)
		absorb(e, o, p, all);
}

/* Adds the range, as one place together with those that it absorbs.  False: no memory. */
static bool join(struct early *e, struct object *o, uint64_t lo, uint64_t hi,
		 uint64_t by)
{
	struct place all = { .node = { .lo = lo, .hi = hi }, .by = by }, *p;

	if (covers(met(o, lo, hi), &all))
		return true;
	p = malloc(sizeof(*p));
	if (!p)
		return false;
	absorb_all(e, o, &all);
	*p = all;
	put_in(e, o, p);
	return true;
}

/* The object counts as changed everywhere. */
static void blur(struct early *e, struct object *o)
{
	join(e, o, 0, UINT64_MAX, 0);
}

/* Blurs the objects with the most places first.  Each search halves the limit, so searches are
 * rare. */
static bool make_room(struct early *e)
{
	struct object *o;

	while (e->n >= EARLY_MAX && e->most > 1) {
		e->most /= 2;
		for (o = e->objects; o; o = o->hh.next)
			if (o->n > e->most)
				blur(e, o);
	}
	return e->n < EARLY_MAX;
}

/* ---- objects ---- */

static struct object *find(const struct early *e, uint64_t handle)
{
	uint64_t key = key_of(e, handle);
	struct object *o;

	HASH_FIND(hh, e->objects, &key, sizeof(key), o);
	return o;
}

static struct object *find_or_make(struct early *e, uint64_t handle)
{
	struct object *o = find(e, handle);

	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->key = key_of(e, handle);
	HASH_ADD(hh, e->objects, key, sizeof(o->key), o);
	if (o->hh.tbl)
		return o;
	free(o);
	return NULL;
}

static void object_free(struct early *e, struct object *o)
{
	struct place *place;

	while ((place = any(o))) {
		take_out(e, o, place);
		free(place);
	}
	HASH_DEL(e->objects, o);
	free(o);
}

/* From now on nothing is known. */
static void stop(struct early *e)
{
	struct object *o, *next;

	atomic_store(&e->on, false);
	HASH_ITER(hh, e->objects, o, next)
		object_free(e, o);
}

void early_close(struct early *e)
{
	if (!e)
		return;
	stop(e);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void early_over(struct early *e)
{
	if (!atomic_load(&e->on))
		return;
	pthread_mutex_lock(&e->lock);
	stop(e);
	pthread_mutex_unlock(&e->lock);
}

static bool by_others(const struct object *o, const struct store_seg *seg,
		      uint64_t by)
{
	struct itree_node *node = NULL;

	while ((node = itree_next(&o->places, node, seg->off,
				  seg->off + seg->len)))
		if (!by || place_of(node)->by != by)
			return true;
	return false;
}

static bool was_changed(const struct early *e, uint64_t handle,
			const struct store_seg *seg, unsigned int n,
			uint64_t by)
{
	const struct object *o = find(e, handle);
	unsigned int i;

	for (i = 0; o && i < n; i++)
		if (by_others(o, &seg[i], by))
			return true;
	return false;
}

static bool note(struct early *e, uint64_t handle, const struct store_seg *seg,
		 unsigned int n, uint64_t by)
{
	struct object *o = n ? find_or_make(e, handle) : NULL;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!o || !make_room(e) ||
		    !join(e, o, seg[i].off, seg[i].off + seg[i].len, by))
			return false;
	return true;
}

static int change(struct early *e, uint64_t handle, const struct store_seg *seg,
		  unsigned int n, uint64_t by, bool anew)
{
	if (atomic_load(&e->on) && clock_now() >= e->until)
		stop(e);
	if (!atomic_load(&e->on))
		return anew ? -ECONNABORTED : 0;
	if (anew && was_changed(e, handle, seg, n, by))
		return -EIO;
	if (!note(e, handle, seg, n, by))
		stop(e);
	return 0;
}

int early_change(struct early *e, uint64_t handle, const struct store_seg *seg,
		 unsigned int n, uint64_t by, bool anew)
{
	int rc;

	if (!anew && !atomic_load_explicit(&e->on, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&e->lock);
	rc = change(e, handle, seg, n, by, anew);
	pthread_mutex_unlock(&e->lock);
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.c - the places of each object that were changed, in a tree: what one client
 * does must cost the others neither time nor what is known of their objects.
 * When there are too many, those objects that have the most of them count as
 * changed everywhere.
 */
#include "early.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "clock.h"
#include "itree.h"
#include "random_id.h"

_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "offsets in a tree");

struct object {
	uint64_t key; /* key_of() its handle */
	struct itree places; /* none touches another */
	unsigned int n;
	UT_hash_handle hh;
};

struct early {
	atomic_bool on;
	uint64_t until;
	uint64_t secret; /* odd */
	pthread_mutex_t lock; /* of the rest */
	struct object *objects;
	unsigned int n; /* places */
	unsigned int most; /* of them an object keeps when there are too many */
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

/* Handles are the clients' choice; which of them meet in the table is not. */
static uint64_t key_of(const struct early *e, uint64_t handle)
{
	return handle * e->secret;
}

/* ---- places.  With the lock, as all below. ---- */

static struct itree_node *any(const struct object *o)
{
	return itree_next(&o->places, NULL, 0, UINT64_MAX);
}

static void take_out(struct early *e, struct object *o,
		     struct itree_node *place)
{
	itree_remove(&o->places, place);
	o->n--;
	e->n--;
}

static void put_in(struct early *e, struct object *o, struct itree_node *place)
{
	itree_insert(&o->places, place);
	o->n++;
	e->n++;
}

/* The next place of the object that [lo, hi) meets or touches. */
static struct itree_node *touched(const struct object *o, uint64_t lo,
				  uint64_t hi)
{
	return itree_next(&o->places, NULL, lo ? lo - 1 : 0,
			  hi < UINT64_MAX ? hi + 1 : hi);
}

/* One place in the stead of all that it touches. */
static bool join(struct early *e, struct object *o, uint64_t lo, uint64_t hi)
{
	struct itree_node *place, *spare = NULL;

	while ((place = touched(o, lo, hi))) {
		if (place->lo <= lo && hi <= place->hi)
			break;
		take_out(e, o, place);
		lo = place->lo < lo ? place->lo : lo;
		hi = place->hi > hi ? place->hi : hi;
		free(spare);
		spare = place;
	}
	if (place) {
		free(spare);
		return true;
	}
	if (!spare)
		spare = malloc(sizeof(*spare));
	if (!spare)
		return false;
	spare->lo = lo;
	spare->hi = hi;
	put_in(e, o, spare);
	return true;
}

/* It counts as changed everywhere. */
static void blur(struct early *e, struct object *o)
{
	join(e, o, 0, UINT64_MAX);
}

/* Those go first who have the most; each time that is looked for, half as many are
 * too many, so it is seldom. */
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
	struct itree_node *place;

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

static bool was_changed(const struct early *e, uint64_t handle,
			const struct store_seg *seg, unsigned int n)
{
	const struct object *o = find(e, handle);
	unsigned int i;

	for (i = 0; o && i < n; i++)
		if (itree_next(&o->places, NULL, seg[i].off,
			       seg[i].off + seg[i].len))
			return true;
	return false;
}

static bool note(struct early *e, uint64_t handle, const struct store_seg *seg,
		 unsigned int n)
{
	struct object *o = n ? find_or_make(e, handle) : NULL;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!o || !make_room(e) ||
		    !join(e, o, seg[i].off, seg[i].off + seg[i].len))
			return false;
	return true;
}

static int change(struct early *e, uint64_t handle, const struct store_seg *seg,
		  unsigned int n, bool anew)
{
	if (atomic_load(&e->on) && clock_now() >= e->until)
		stop(e);
	if (!atomic_load(&e->on))
		return anew ? -EIO : 0;
	if (anew && was_changed(e, handle, seg, n))
		return -EIO;
	if (!note(e, handle, seg, n))
		stop(e);
	return 0;
}

int early_change(struct early *e, uint64_t handle, const struct store_seg *seg,
		 unsigned int n, bool anew)
{
	int rc;

	if (!anew && !atomic_load_explicit(&e->on, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&e->lock);
	rc = change(e, handle, seg, n, anew);
	pthread_mutex_unlock(&e->lock);
	return rc;
}

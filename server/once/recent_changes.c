/* SPDX-License-Identifier: BSD-2-Clause */
/* recent_changes.c - see recent_changes.h. */
#include "server/once/recent_changes.h"

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
struct changed_range {
	struct itree_node node;
	uint64_t by; /* the session; 0: several, or none */
};

struct changed_object {
	struct object_key key; /* secret_key() */
	struct itree ranges; /* they do not overlap */
	unsigned int n;
	UT_hash_handle hh;
};

struct recent_truncation {
	struct object_key key;
	uint64_t id; /* 0: none */
	bool done; /* otherwise it is in progress */
};

struct recent_changes {
	/* the changed ranges of each object, in a tree */
	atomic_bool on;
	uint64_t until;
	uint64_t secret; /* an odd random number */
	pthread_mutex_t lock; /* of the next three */
	struct changed_object *objects;
	unsigned int n; /* ranges of all objects */
	/* ranges that an object may keep when room is needed */
	unsigned int most;
	struct {
		pthread_mutex_t lock; /* of the rest */
		unsigned int next;
		/* a ring; a new one replaces the oldest */
		struct recent_truncation known[RECENT_TRUNCATIONS];
	} truncations;
	/* at removal_mark() % RECENT_REMOVALS; 0: none */
	_Atomic uint64_t removed[RECENT_REMOVALS];
};

int recent_changes_open(struct recent_changes **out)
{
	struct recent_changes *recent = calloc(1, sizeof(*recent));
	int rc = recent ? random_id(&recent->secret) : -ENOMEM;

	if (rc) {
		free(recent);
		return rc;
	}
	recent->secret |= 1;
	atomic_init(&recent->on, true);
	recent->until = clock_after_ms(RECENT_CHANGES_MS);
	recent->most = RECENT_CHANGES_MAX;
	pthread_mutex_init(&recent->lock, NULL);
	pthread_mutex_init(&recent->truncations.lock, NULL);
	*out = recent;
	return 0;
}

/*
 * A client can send any number as a handle (with auth = sys, no capability is needed).  The secret
 * factor keeps it from choosing handles that collide in the table.
 */
static struct object_key secret_key(const struct recent_changes *recent,
				    struct object_key key)
{
	key.handle *= recent->secret;
	return key;
}

/* ---- ranges: the static functions below need the lock ---- */

static struct changed_range *range_of(struct itree_node *node)
{
	return node ? container_of(node, struct changed_range, node) : NULL;
}

static struct changed_range *first_range(const struct changed_object *o)
{
	return range_of(itree_next(&o->ranges, NULL, 0, UINT64_MAX));
}

static void remove_range(struct recent_changes *recent,
			 struct changed_object *o, struct changed_range *place)
{
	itree_remove(&o->ranges, &place->node);
	o->n--;
	recent->n--;
}

static void insert_range(struct recent_changes *recent,
			 struct changed_object *o, struct changed_range *place)
{
	itree_insert(&o->ranges, &place->node);
	o->n++;
	recent->n++;
}

static struct changed_range *find_overlap(const struct changed_object *o,
					  uint64_t lo, uint64_t hi)
{
	return range_of(itree_next(&o->ranges, NULL, lo, hi));
}

static bool range_covers(const struct changed_range *p,
			 const struct changed_range *all)
{
	return p && p->node.lo <= all->node.lo && all->node.hi <= p->node.hi &&
	       (p->by == all->by || !p->by);
}

/* Removes p and extends *all by it. */
static void merge_range(struct recent_changes *recent, struct changed_object *o,
			struct changed_range *p, struct changed_range *all)
{
	remove_range(recent, o, p);
	if (p->node.lo < all->node.lo)
		all->node.lo = p->node.lo;
	if (p->node.hi > all->node.hi)
		all->node.hi = p->node.hi;
	if (p->by != all->by)
		all->by = 0;
	free(p);
}

/* Merges the ranges that overlap, and the adjacent ones of the same session. */
static void merge_neighbours(struct recent_changes *recent,
			     struct changed_object *o,
			     struct changed_range *all)
{
	uint64_t lo, hi;
	struct changed_range *p;

	while ((p = find_overlap(o, all->node.lo, all->node.hi)))
		merge_range(recent, o, p, all);
	lo = all->node.lo;
	hi = all->node.hi;
	p = lo ? find_overlap(o, lo - 1, lo) : NULL;
	if (p && p->by == all->by)
		merge_range(recent, o, p, all);
	p = hi < UINT64_MAX ? find_overlap(o, hi, hi + 1) : NULL;
	if (p && p->by == all->by)
		merge_range(recent, o, p, all);
}

/* Adds the range, as one range together with those that it meets.  False: no memory. */
static bool add_range(struct recent_changes *recent, struct changed_object *o,
		      uint64_t lo, uint64_t hi, uint64_t by)
{
	struct changed_range all = { .node = { .lo = lo, .hi = hi }, .by = by },
			     *p;

	if (range_covers(find_overlap(o, lo, hi), &all))
		return true;
	p = malloc(sizeof(*p));
	if (!p)
		return false;
	merge_neighbours(recent, o, &all);
	*p = all;
	insert_range(recent, o, p);
	return true;
}

/* The object counts as changed everywhere. */
static void mark_all_changed(struct recent_changes *recent,
			     struct changed_object *o)
{
	add_range(recent, o, 0, UINT64_MAX, 0);
}

/* Gives up the ranges of the objects with the most of them first.  Each search halves the limit,
 * so searches are rare. */
static bool make_room(struct recent_changes *recent)
{
	struct changed_object *o;

	while (recent->n >= RECENT_CHANGES_MAX && recent->most > 1) {
		recent->most /= 2;
		for (o = recent->objects; o; o = o->hh.next)
			if (o->n > recent->most)
				mark_all_changed(recent, o);
	}
	return recent->n < RECENT_CHANGES_MAX;
}

/* ---- objects ---- */

static struct changed_object *find_object(const struct recent_changes *recent,
					  struct object_key key)
{
	struct object_key secret = secret_key(recent, key);
	struct changed_object *o;

	HASH_FIND(hh, recent->objects, &secret, sizeof(secret), o);
	return o;
}

static struct changed_object *get_object(struct recent_changes *recent,
					 struct object_key key)
{
	struct changed_object *o = find_object(recent, key);

	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->key = secret_key(recent, key);
	HASH_ADD(hh, recent->objects, key, sizeof(o->key), o);
	if (o->hh.tbl)
		return o;
	free(o);
	return NULL;
}

static void free_object(struct recent_changes *recent, struct changed_object *o)
{
	struct changed_range *place;

	while ((place = first_range(o))) {
		remove_range(recent, o, place);
		free(place);
	}
	HASH_DEL(recent->objects, o);
	free(o);
}

/*
 * Forgets all changes, and records no more.  From now on, repeated changes fail with -ECONNABORTED.
 */
static void forget_all(struct recent_changes *recent)
{
	struct changed_object *o, *next;

	atomic_store(&recent->on, false);
	HASH_ITER(hh, recent->objects, o, next)
		free_object(recent, o);
}

void recent_changes_close(struct recent_changes *recent)
{
	if (!recent)
		return;
	forget_all(recent);
	pthread_mutex_destroy(&recent->truncations.lock);
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

void recent_changes_forget(struct recent_changes *recent)
{
	if (!atomic_load(&recent->on))
		return;
	pthread_mutex_lock(&recent->lock);
	forget_all(recent);
	pthread_mutex_unlock(&recent->lock);
}

static bool is_changed_by_others(const struct changed_object *o,
				 const struct store_seg *seg, uint64_t by)
{
	struct itree_node *node = NULL;

	while ((node = itree_next(&o->ranges, node, seg->off,
				  seg->off + seg->len)))
		if (!by || range_of(node)->by != by)
			return true;
	return false;
}

static bool is_changed(const struct recent_changes *recent,
		       struct object_key key, const struct store_seg *seg,
		       unsigned int n, uint64_t by)
{
	const struct changed_object *o = find_object(recent, key);
	unsigned int i;

	for (i = 0; o && i < n; i++)
		if (is_changed_by_others(o, &seg[i], by))
			return true;
	return false;
}

static bool record_change(struct recent_changes *recent, struct object_key key,
			  const struct store_seg *seg, unsigned int n,
			  uint64_t by)
{
	struct changed_object *o = n ? get_object(recent, key) : NULL;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!o || !make_room(recent) ||
		    !add_range(recent, o, seg[i].off, seg[i].off + seg[i].len,
			       by))
			return false;
	return true;
}

static int check_and_record(struct recent_changes *recent,
			    struct object_key key, const struct store_seg *seg,
			    unsigned int n, uint64_t by, bool repeated)
{
	if (atomic_load(&recent->on) && clock_now() >= recent->until)
		forget_all(recent);
	if (!atomic_load(&recent->on))
		return repeated ? -ECONNABORTED : 0;
	if (repeated && is_changed(recent, key, seg, n, by))
		return -EIO;
	if (!record_change(recent, key, seg, n, by))
		forget_all(recent);
	return 0;
}

int recent_changes_check(struct recent_changes *recent, struct object_key key,
			 const struct store_seg *seg, unsigned int n,
			 uint64_t by, bool repeated)
{
	int rc;

	if (!repeated &&
	    !atomic_load_explicit(&recent->on, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&recent->lock);
	rc = check_and_record(recent, key, seg, n, by, repeated);
	pthread_mutex_unlock(&recent->lock);
	return rc;
}

/* ---- truncations ---- */

/* Needs the lock, as do the functions below that do not take it. */
static struct recent_truncation *find_truncation(struct recent_changes *recent,
						 struct object_key key,
						 uint64_t id)
{
	struct recent_truncation *k;

	for (k = recent->truncations.known;
	     k < recent->truncations.known + RECENT_TRUNCATIONS; k++)
		if (k->id == id && object_key_equal(k->key, key))
			return k;
	return NULL;
}

/* Skips entries in progress.  There are few, because the pool bounds them. */
static struct recent_truncation *add_truncation(struct recent_changes *recent,
						struct object_key key,
						uint64_t id)
{
	struct recent_truncation *k;

	do {
		k = &recent->truncations.known[recent->truncations.next++ %
					       RECENT_TRUNCATIONS];
	} while (k->id && !k->done);
	*k = (struct recent_truncation){ .key = key, .id = id };
	return k;
}

static enum recent_truncation_state
look_up_truncation(struct recent_changes *recent, struct object_key key,
		   uint64_t id, struct recent_truncation **truncation)
{
	const struct recent_truncation *k = find_truncation(recent, key, id);

	if (k)
		return k->done ? RECENT_TRUNCATION_DONE
			       : RECENT_TRUNCATION_RUNNING;
	*truncation = add_truncation(recent, key, id);
	return RECENT_TRUNCATION_NEW;
}

enum recent_truncation_state
recent_truncation_begin(struct recent_changes *recent, struct object_key key,
			uint64_t id, struct recent_truncation **truncation)
{
	enum recent_truncation_state state;

	*truncation = NULL;
	if (!id)
		return RECENT_TRUNCATION_NEW;
	pthread_mutex_lock(&recent->truncations.lock);
	state = look_up_truncation(recent, key, id, truncation);
	pthread_mutex_unlock(&recent->truncations.lock);
	return state;
}

void recent_truncation_end(struct recent_changes *recent,
			   struct recent_truncation *truncation, bool done)
{
	if (!truncation)
		return;
	pthread_mutex_lock(&recent->truncations.lock);
	if (done)
		truncation->done = true;
	else
		*truncation = (struct recent_truncation){ 0 };
	pthread_mutex_unlock(&recent->truncations.lock);
}

/* ---- removed objects ---- */

/*
 * The key as one word, so that no lock is needed.  For the own group it is the handle.  The marks
 * of two objects of one file always differ.  Those of two files are equal by chance only: handles
 * are enciphered.
 */
static uint64_t removal_mark(struct object_key key)
{
	return key.handle + key.copyset * UINT64_C(0x9e3779b97f4a7c15);
}

void recent_removal_add(struct recent_changes *recent, struct object_key key)
{
	uint64_t mark = removal_mark(key);

	atomic_store(&recent->removed[mark % RECENT_REMOVALS], mark);
}

bool recent_removal_has(const struct recent_changes *recent,
			struct object_key key)
{
	uint64_t mark = removal_mark(key);

	return mark &&
	       atomic_load(&recent->removed[mark % RECENT_REMOVALS]) == mark;
}

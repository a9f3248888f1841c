/* SPDX-License-Identifier: BSD-2-Clause */
/* object_cache.c - open object files by key, and the references to them. */
#include "server/store/object_cache.h"
#include "server/store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct object_cache_shard *shard_of(struct object_cache *cache,
					   struct object_key key)
{
	return &cache->shard[key.handle % OBJECT_CACHE_SHARDS];
}

static void init_shard(struct object_cache_shard *s)
{
	pthread_mutex_init(&s->lock, NULL);
	s->table = NULL;
	LIST_INIT(&s->all);
	s->removals = 0;
	for (int i = 0; i < OBJECT_CACHE_LISTS; i++) {
		TAILQ_INIT(&s->lists[i].list);
		s->lists[i].n = 0;
	}
}

void object_cache_init(struct object_cache *cache, unsigned int max,
		       unsigned int max_kept)
{
	unsigned int i;

	cache->shard_max = max / OBJECT_CACHE_SHARDS ? max / OBJECT_CACHE_SHARDS
						     : 1;
	cache->shard_kept = max_kept / OBJECT_CACHE_SHARDS;
	for (i = 0; i < OBJECT_CACHE_SHARDS; i++)
		init_shard(&cache->shard[i]);
}

/* Removes an object that is about to be closed from the list of all objects. */
static void forget_object(struct store_obj *obj)
{
	struct object_cache_shard *s = shard_of(&obj->store->cache, obj->key);

	if (!obj->listed)
		return;
	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(obj, all);
	pthread_mutex_unlock(&s->lock);
}

struct store_obj *store_obj_ref(struct store_obj *obj)
{
	atomic_fetch_add_explicit(&obj->refs, 1, memory_order_relaxed);
	return obj;
}

void store_obj_put(struct store_obj *obj)
{
	if (atomic_fetch_sub_explicit(&obj->refs, 1, memory_order_acq_rel) > 1)
		return;
	forget_object(obj);
	if (atomic_load(&obj->direct) >= 0)
		close(atomic_load(&obj->direct));
	close(obj->fd);
	free(obj);
}

unsigned int store_obj_replacements(const struct store_obj *obj)
{
	return atomic_load(&obj->replacements);
}

struct object_key store_obj_key(const struct store_obj *obj)
{
	return obj->key;
}

/* ---- the lists of a shard ---- */

/* The object has to stay open: a session has not yet heard that its writes are stable. */
static bool may_report_error(const struct store_obj *obj)
{
	return writeback_errors_has(&obj->store->errors, obj->key);
}

/* Needs the lock, as do the functions below.  Moves obj to the end of a list. */
static void move_to(struct object_cache_shard *s, struct store_obj *obj,
		    enum object_cache_list list)
{
	if (obj->list) {
		TAILQ_REMOVE(&s->lists[obj->list].list, obj, lru);
		s->lists[obj->list].n--;
	}
	if (list) {
		TAILQ_INSERT_TAIL(&s->lists[list].list, obj, lru);
		s->lists[list].n++;
	}
	obj->list = list;
}

/* Removes obj from the table; the table's reference becomes the caller's. */
static void remove_from_table(struct object_cache_shard *s,
			      struct store_obj *obj)
{
	HASH_DEL(s->table, obj);
	move_to(s, obj, OBJECT_CACHE_NONE);
}

static void destroy_shard(struct object_cache_shard *s)
{
	struct store_obj *obj, *next;

	HASH_ITER(hh, s->table, obj, next) {
		remove_from_table(s, obj);
		store_obj_put(obj);
	}
	pthread_mutex_destroy(&s->lock);
}

void object_cache_destroy(struct object_cache *cache)
{
	for (unsigned int i = 0; i < OBJECT_CACHE_SHARDS; i++)
		destroy_shard(&cache->shard[i]);
}

static struct store_obj *find_object(struct object_cache_shard *s,
				     struct object_key key)
{
	struct store_obj *obj;

	HASH_FIND_BYHASHVALUE(hh, s->table, &key, sizeof(key),
			      object_key_hash(key), obj);
	if (!obj)
		return NULL;
	if (obj->list != OBJECT_CACHE_LRU || TAILQ_NEXT(obj, lru))
		move_to(s, obj, OBJECT_CACHE_LRU);
	return store_obj_ref(obj);
}

struct store_obj *object_cache_find(struct object_cache *cache,
				    struct object_key key, uint64_t *ticket)
{
	struct object_cache_shard *s = shard_of(cache, key);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	obj = find_object(s, key);
	*ticket = s->removals;
	pthread_mutex_unlock(&s->lock);
	return obj;
}

static struct store_obj *oldest_object(struct object_cache_shard *s,
				       enum object_cache_list list)
{
	return TAILQ_FIRST(&s->lists[list].list);
}

/*
 * Returns the object to evict, or NULL.  If the least recently used object may still report an
 * error, it is moved to the list of kept objects.  The oldest kept object is evicted if there are
 * too many, or if it can no longer report an error.
 */
static struct store_obj *choose_victim(const struct object_cache *cache,
				       struct object_cache_shard *s)
{
	struct store_obj *old = oldest_object(s, OBJECT_CACHE_LRU);

	if (s->lists[OBJECT_CACHE_LRU].n <= cache->shard_max)
		return NULL;
	if (!may_report_error(old))
		return old;
	move_to(s, old, OBJECT_CACHE_KEPT);
	old = oldest_object(s, OBJECT_CACHE_KEPT);
	if (s->lists[OBJECT_CACHE_KEPT].n > cache->shard_kept ||
	    !may_report_error(old))
		return old;
	return NULL;
}

/*
 * What evict_object() leaves for after the unlock: a reference to put, and an object that the
 * caller closes.  Each may be NULL.
 */
struct evicted {
	struct store_obj *drop, *closing;
};

static void evict_object(struct object_cache_shard *s, struct store_obj *old,
			 struct evicted *evicted)
{
	if (!may_report_error(old)) {
		remove_from_table(s, old);
		evicted->drop = old;
		return;
	}
	move_to(s, old, OBJECT_CACHE_CLOSING);
	if (!old->closing)
		evicted->closing = store_obj_ref(old);
	old->closing = true;
}

static void insert_object(struct object_cache *cache,
			  struct object_cache_shard *s, struct store_obj *obj,
			  struct evicted *evicted)
{
	struct store_obj *old;

	obj->listed = true;
	LIST_INSERT_HEAD(&s->all, obj, all);
	HASH_ADD_BYHASHVALUE(hh, s->table, key, sizeof(obj->key),
			     object_key_hash(obj->key), obj);
	if (!obj->hh.tbl)
		return;
	store_obj_ref(obj);
	move_to(s, obj, OBJECT_CACHE_LRU);
	old = choose_victim(cache, s);
	if (old)
		evict_object(s, old, evicted);
}

struct store_obj *object_cache_add(struct object_cache *cache,
				   struct store_obj *obj, uint64_t ticket,
				   struct store_obj **closing)
{
	struct object_cache_shard *s = shard_of(cache, obj->key);
	struct evicted evicted = { .drop = obj };
	struct store_obj *use = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->removals == ticket)
		use = find_object(s, obj->key);
	if (s->removals == ticket && !use) {
		use = obj;
		evicted.drop = NULL;
		insert_object(cache, s, obj, &evicted);
	}
	pthread_mutex_unlock(&s->lock);
	if (evicted.drop)
		store_obj_put(evicted.drop);
	*closing = evicted.closing;
	return use;
}

void object_cache_finish_closing(struct object_cache *cache,
				 struct store_obj *obj)
{
	struct object_cache_shard *s = shard_of(cache, obj->key);
	bool evicted;

	pthread_mutex_lock(&s->lock);
	obj->closing = false;
	evicted = obj->list == OBJECT_CACHE_CLOSING;
	if (evicted)
		remove_from_table(s, obj);
	pthread_mutex_unlock(&s->lock);
	if (evicted)
		store_obj_put(obj);
	store_obj_put(obj);
}

void object_cache_replace_file(struct object_cache *cache,
			       struct object_key key, int fd)
{
	struct object_cache_shard *s = shard_of(cache, key);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	s->removals++;
	LIST_FOREACH(obj, &s->all, all) {
		if (!object_key_equal(obj->key, key))
			continue;
		while (dup3(fd, obj->fd, O_CLOEXEC) < 0 && errno == EINTR)
			;
		atomic_fetch_add(&obj->replacements, 1);
	}
	pthread_mutex_unlock(&s->lock);
}

void object_cache_remove(struct object_cache *cache, struct object_key key)
{
	struct object_cache_shard *s = shard_of(cache, key);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	s->removals++;
	HASH_FIND_BYHASHVALUE(hh, s->table, &key, sizeof(key),
			      object_key_hash(key), obj);
	if (obj)
		remove_from_table(s, obj);
	pthread_mutex_unlock(&s->lock);
	if (obj)
		store_obj_put(obj);
}

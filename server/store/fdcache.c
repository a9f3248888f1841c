/* SPDX-License-Identifier: BSD-2-Clause */
/* fdcache.c - open object files by handle. */
#include "server/store/fdcache.h"
#include "server/store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct fdcache_shard *shard_of(struct fdcache *cache, uint64_t handle)
{
	return &cache->shard[handle % FDCACHE_SHARDS];
}

static void init_shard(struct fdcache_shard *s)
{
	pthread_mutex_init(&s->lock, NULL);
	s->table = NULL;
	LIST_INIT(&s->all);
	s->removals = 0;
	for (int i = 0; i < FDCACHE_PLACES; i++) {
		TAILQ_INIT(&s->place[i].list);
		s->place[i].n = 0;
	}
}

void fdcache_init(struct fdcache *cache, unsigned int max, unsigned int kept)
{
	unsigned int i;

	cache->shard_max = max / FDCACHE_SHARDS ? max / FDCACHE_SHARDS : 1;
	cache->shard_kept = kept / FDCACHE_SHARDS;
	for (i = 0; i < FDCACHE_SHARDS; i++)
		init_shard(&cache->shard[i]);
}

/* Needs the lock, as do the functions below.  Moves obj to the end of the list of a place. */
static void put_in(struct fdcache_shard *s, struct store_obj *obj,
		   enum fdcache_place place)
{
	if (obj->place) {
		TAILQ_REMOVE(&s->place[obj->place].list, obj, lru);
		s->place[obj->place].n--;
	}
	if (place) {
		TAILQ_INSERT_TAIL(&s->place[place].list, obj, lru);
		s->place[place].n++;
	}
	obj->place = place;
}

/* Removes obj from the table; the table's reference becomes the caller's. */
static void detach(struct fdcache_shard *s, struct store_obj *obj)
{
	HASH_DEL(s->table, obj);
	put_in(s, obj, FDCACHE_OUT);
}

static void destroy_shard(struct fdcache_shard *s)
{
	struct store_obj *obj, *next;

	HASH_ITER(hh, s->table, obj, next) {
		detach(s, obj);
		store_obj_put(obj);
	}
	pthread_mutex_destroy(&s->lock);
}

void fdcache_destroy(struct fdcache *cache)
{
	for (unsigned int i = 0; i < FDCACHE_SHARDS; i++)
		destroy_shard(&cache->shard[i]);
}

static struct store_obj *find(struct fdcache_shard *s, uint64_t handle)
{
	struct store_obj *obj;

	HASH_FIND(hh, s->table, &handle, sizeof(handle), obj);
	if (!obj)
		return NULL;
	if (obj->place != FDCACHE_LRU || TAILQ_NEXT(obj, lru))
		put_in(s, obj, FDCACHE_LRU);
	return store_obj_ref(obj);
}

struct store_obj *fdcache_find(struct fdcache *cache, uint64_t handle,
			       uint64_t *ticket)
{
	struct fdcache_shard *s = shard_of(cache, handle);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	obj = find(s, handle);
	*ticket = s->removals;
	pthread_mutex_unlock(&s->lock);
	return obj;
}

static struct store_obj *oldest(struct fdcache_shard *s,
				enum fdcache_place place)
{
	return TAILQ_FIRST(&s->place[place].list);
}

/*
 * Returns the object to evict, or NULL.  The least recently used one is kept if it may still
 * report an error.  Of the kept ones the oldest goes, if there are too many or it needs not be
 * kept any more.
 */
static struct store_obj *choose(const struct fdcache *cache,
				struct fdcache_shard *s)
{
	struct store_obj *old = oldest(s, FDCACHE_LRU);

	if (s->place[FDCACHE_LRU].n <= cache->shard_max)
		return NULL;
	if (!store_obj_wanted(old))
		return old;
	put_in(s, old, FDCACHE_KEPT);
	old = oldest(s, FDCACHE_KEPT);
	if (s->place[FDCACHE_KEPT].n > cache->shard_kept ||
	    !store_obj_wanted(old))
		return old;
	return NULL;
}

/* After the unlock: drop is put, leave is retired. */
struct gone {
	struct store_obj *drop, *leave;
};

static void evict(struct fdcache_shard *s, struct store_obj *old,
		  struct gone *gone)
{
	if (!store_obj_wanted(old)) {
		detach(s, old);
		gone->drop = old;
		return;
	}
	put_in(s, old, FDCACHE_LEAVES);
	if (!old->leaves)
		gone->leave = store_obj_ref(old);
	old->leaves = true;
}

static void insert(struct fdcache *cache, struct fdcache_shard *s,
		   struct store_obj *obj, struct gone *gone)
{
	struct store_obj *old;

	obj->known = true;
	LIST_INSERT_HEAD(&s->all, obj, all);
	HASH_ADD(hh, s->table, handle, sizeof(obj->handle), obj);
	if (!obj->hh.tbl)
		return;
	store_obj_ref(obj);
	put_in(s, obj, FDCACHE_LRU);
	old = choose(cache, s);
	if (old)
		evict(s, old, gone);
}

struct store_obj *fdcache_add(struct fdcache *cache, struct store_obj *obj,
			      uint64_t ticket)
{
	struct fdcache_shard *s = shard_of(cache, obj->handle);
	struct gone gone = { .drop = obj };
	struct store_obj *use = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->removals == ticket)
		use = find(s, obj->handle);
	if (s->removals == ticket && !use) {
		use = obj;
		gone.drop = NULL;
		insert(cache, s, obj, &gone);
	}
	pthread_mutex_unlock(&s->lock);
	if (gone.drop)
		store_obj_put(gone.drop);
	if (gone.leave)
		store_obj_retire(gone.leave);
	return use;
}

void fdcache_leave(struct fdcache *cache, struct store_obj *obj)
{
	struct fdcache_shard *s = shard_of(cache, obj->handle);
	bool gone;

	pthread_mutex_lock(&s->lock);
	obj->leaves = false;
	gone = obj->place == FDCACHE_LEAVES;
	if (gone)
		detach(s, obj);
	pthread_mutex_unlock(&s->lock);
	if (gone)
		store_obj_put(obj);
	store_obj_put(obj);
}

void fdcache_close(struct fdcache *cache, struct store_obj *obj)
{
	struct fdcache_shard *s = shard_of(cache, obj->handle);

	if (!obj->known)
		return;
	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(obj, all);
	pthread_mutex_unlock(&s->lock);
}

void fdcache_swapped(struct fdcache *cache, uint64_t handle, int fd)
{
	struct fdcache_shard *s = shard_of(cache, handle);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	s->removals++;
	LIST_FOREACH(obj, &s->all, all) {
		if (obj->handle != handle)
			continue;
		while (dup3(fd, obj->fd, O_CLOEXEC) < 0 && errno == EINTR)
			;
		atomic_fetch_add(&obj->moved, 1);
	}
	pthread_mutex_unlock(&s->lock);
}

void fdcache_removed(struct fdcache *cache, uint64_t handle)
{
	struct fdcache_shard *s = shard_of(cache, handle);
	struct store_obj *obj;

	pthread_mutex_lock(&s->lock);
	s->removals++;
	HASH_FIND(hh, s->table, &handle, sizeof(handle), obj);
	if (obj)
		detach(s, obj);
	pthread_mutex_unlock(&s->lock);
	if (obj)
		store_obj_put(obj);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* fdcache.c - open object files by handle. */
#include "fdcache.h"
#include "store.h"

static struct fdcache_shard *shard_of(struct fdcache *cache, uint64_t handle)
{
	return &cache->shard[handle % FDCACHE_SHARDS];
}

void fdcache_init(struct fdcache *cache, unsigned int max)
{
	unsigned int i;

	cache->shard_max = max / FDCACHE_SHARDS ? max / FDCACHE_SHARDS : 1;
	for (i = 0; i < FDCACHE_SHARDS; i++) {
		pthread_mutex_init(&cache->shard[i].lock, NULL);
		cache->shard[i].table = NULL;
		TAILQ_INIT(&cache->shard[i].lru);
		cache->shard[i].removals = 0;
	}
}

/* Takes obj out; its reference becomes the caller's. */
static void detach(struct fdcache_shard *s, struct store_obj *obj)
{
	HASH_DEL(s->table, obj);
	TAILQ_REMOVE(&s->lru, obj, lru);
}

void fdcache_destroy(struct fdcache *cache)
{
	struct store_obj *obj;
	unsigned int i;

	for (i = 0; i < FDCACHE_SHARDS; i++) {
		while ((obj = TAILQ_FIRST(&cache->shard[i].lru))) {
			detach(&cache->shard[i], obj);
			store_obj_put(obj);
		}
		pthread_mutex_destroy(&cache->shard[i].lock);
	}
}

/* With the lock held. */
static struct store_obj *find(struct fdcache_shard *s, uint64_t handle)
{
	struct store_obj *obj;

	HASH_FIND(hh, s->table, &handle, sizeof(handle), obj);
	if (!obj)
		return NULL;
	if (TAILQ_NEXT(obj, lru)) {
		TAILQ_REMOVE(&s->lru, obj, lru);
		TAILQ_INSERT_TAIL(&s->lru, obj, lru);
	}
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

/* Returns what must be put after the unlock: the evicted one, or NULL. */
static struct store_obj *insert(struct fdcache *cache, struct fdcache_shard *s,
				struct store_obj *obj)
{
	struct store_obj *old = NULL;

	HASH_ADD(hh, s->table, handle, sizeof(obj->handle), obj);
	if (!obj->hh.tbl)
		return NULL;
	store_obj_ref(obj);
	TAILQ_INSERT_TAIL(&s->lru, obj, lru);
	if (HASH_COUNT(s->table) > cache->shard_max) {
		old = TAILQ_FIRST(&s->lru);
		detach(s, old);
	}
	return old;
}

struct store_obj *fdcache_add(struct fdcache *cache, struct store_obj *obj,
			      uint64_t ticket)
{
	struct fdcache_shard *s = shard_of(cache, obj->handle);
	struct store_obj *use, *drop = obj;

	pthread_mutex_lock(&s->lock);
	if (s->removals != ticket) {
		use = NULL;
	} else {
		use = find(s, obj->handle);
		if (!use) {
			use = obj;
			drop = insert(cache, s, obj);
		}
	}
	pthread_mutex_unlock(&s->lock);
	if (drop)
		store_obj_put(drop);
	return use;
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

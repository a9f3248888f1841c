/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdcache.h - open object files by handle: a bounded LRU cache, in shards so that threads
 * seldom wait for a lock.
 *
 * The kernel reports write-back errors only to open files.  So if clients wrote to a file and
 * do not yet know that the data is stable, the file stays open longer, within a bound of its
 * own.
 *
 * The cache holds one reference to each entry.  An evicted or removed object lives until its
 * last user puts it.
 */
#ifndef FDCACHE_H
#define FDCACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "server/store/sync_pool.h"

#define FDCACHE_SHARDS 16u

enum fdcache_place {
	FDCACHE_OUT,
	FDCACHE_LRU,
	FDCACHE_KEPT, /* due for eviction, but may still report an error */
	FDCACHE_LEAVES, /* being evicted, unless it is used again meanwhile */
	FDCACHE_PLACES
};

struct store_obj {
	uint64_t handle;
	struct store *store;
	int fd;
	/* a descriptor of the same file with O_DIRECT, or -1 */
	atomic_int direct;
	atomic_uint refs;
	atomic_bool named; /* its name is on stable storage */
	atomic_uint moved; /* how often fd was replaced by another file */
	UT_hash_handle hh; /* under the shard's lock */
	enum fdcache_place place; /* under the shard's lock */
	/* in the list of its place; under the shard's lock */
	TAILQ_ENTRY(store_obj) lru;
	/* store_obj_retire() was called, and fdcache_leave() not yet; under the shard's lock */
	bool leaves;
	bool known; /* it is in the shard's list of all objects */
	LIST_ENTRY(store_obj) all; /* under the shard's lock */
	struct sync_group group; /* of sync_group.c */
	struct sync_wait leave; /* of object.c */
};

struct fdcache_shard {
	pthread_mutex_t lock;
	struct store_obj *table;
	struct {
		TAILQ_HEAD(, store_obj) list; /* least recently used first */
		unsigned int n;
	} place[FDCACHE_PLACES];
	/* also objects that left the cache and are still in use */
	LIST_HEAD(, store_obj) all;
	/* also replacements; an object opened before the latest one is stale */
	uint64_t removals;
};

struct fdcache {
	unsigned int shard_max, shard_kept;
	struct fdcache_shard shard[FDCACHE_SHARDS];
};

/* max: entries; kept: further ones that may still report an error.  Both are split over the
 * shards. */
void fdcache_init(struct fdcache *cache, unsigned int max, unsigned int kept);
/* Drops the cache's references. */
void fdcache_destroy(struct fdcache *cache);

/* Returns a new reference, or NULL and in *ticket the ticket for fdcache_add(). */
struct store_obj *fdcache_find(struct fdcache *cache, uint64_t handle,
			       uint64_t *ticket);
/*
 * Adds a newly opened object, which was opened after the ticket was drawn.  Returns the object
 * to use, with a reference for the caller.  If another thread has added one meanwhile, returns
 * that one and puts obj.  NULL: obj was put because a handle of the shard was removed or
 * replaced meanwhile; open it again.
 */
struct store_obj *fdcache_add(struct fdcache *cache, struct store_obj *obj,
			      uint64_t ticket);
/* Ends what store_obj_retire() began, and puts the reference that it was given. */
void fdcache_leave(struct fdcache *cache, struct store_obj *obj);
/* The object is about to be closed: removes it from the list of all objects. */
void fdcache_close(struct fdcache *cache, struct store_obj *obj);
/*
 * Call it after another file, open as fd, has replaced the object's file.  All open objects of
 * the handle use that file from then on.
 */
void fdcache_swapped(struct fdcache *cache, uint64_t handle, int fd);
/* Call it after the file was unlinked. */
void fdcache_removed(struct fdcache *cache, uint64_t handle);

#endif

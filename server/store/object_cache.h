/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_cache.h - open object files by key: a bounded LRU cache, in shards so that threads
 * seldom wait for a lock.
 *
 * The kernel reports write-back errors only to open files.  So a file that clients have written
 * to, and have not flushed yet, stays open longer, within a bound of its own (max_kept).
 *
 * The cache holds one reference to each entry.  An evicted or removed object lives until its last
 * user puts it.
 */
#ifndef OBJECT_CACHE_H
#define OBJECT_CACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "server/store/disk_pool.h"
#include "server/store/object_store.h"

#define OBJECT_CACHE_SHARDS 16u

enum object_cache_list {
	OBJECT_CACHE_NONE,
	OBJECT_CACHE_LRU,
	OBJECT_CACHE_KEPT, /* due for eviction, but may still report an error */
	OBJECT_CACHE_CLOSING, /* being evicted, unless it is used again meanwhile */
	OBJECT_CACHE_LISTS
};

/* The waiting flushes of an object. */
struct flush_group {
	struct disk_work work;
	struct disk_pool *pool;
	STAILQ_HEAD(flush_waits, flush_wait)
	waits; /* under store->flush_lock */
	bool busy; /* queued or running; under store->flush_lock */
};

struct store_obj {
	struct object_key key;
	struct object_store *store;
	int fd;
	/* a descriptor of the same file with O_DIRECT, or -1 */
	atomic_int direct;
	atomic_uint refs;
	atomic_bool named; /* its name is on stable storage */
	atomic_uint replacements; /* how often fd was replaced by another file */
	UT_hash_handle hh; /* under the shard's lock */
	enum object_cache_list list; /* under the shard's lock */
	/* in that list; under the shard's lock */
	TAILQ_ENTRY(store_obj) lru;
	/* its write_out has begun and not ended; under the shard's lock */
	bool closing;
	bool listed; /* it is in the shard's list of all objects */
	LIST_ENTRY(store_obj) all; /* under the shard's lock */
	struct flush_group group; /* of object_flush.c */
	struct flush_wait write_out; /* before it closes */
};

struct object_cache_shard {
	pthread_mutex_t lock;
	struct store_obj *table;
	struct {
		TAILQ_HEAD(, store_obj) list; /* least recently used first */
		unsigned int n;
	} lists[OBJECT_CACHE_LISTS];
	/* also objects that left the cache and are still in use */
	LIST_HEAD(, store_obj) all;
	/* also replacements; an object opened before the latest one is stale */
	uint64_t removals;
};

struct object_cache {
	unsigned int shard_max, shard_kept;
	struct object_cache_shard shard[OBJECT_CACHE_SHARDS];
};

/*
 * max: bound of the entries; max_kept: bound of further entries, whose files may still report an
 * error.  Both are split over the shards.
 */
void object_cache_init(struct object_cache *cache, unsigned int max,
		       unsigned int max_kept);
/* Drops the cache's references. */
void object_cache_destroy(struct object_cache *cache);

/* Returns a new reference, or NULL and in *ticket the ticket for object_cache_add(). */
struct store_obj *object_cache_find(struct object_cache *cache,
				    struct object_key key, uint64_t *ticket);
/*
 * Adds a newly opened object, which was opened after the ticket was drawn.  Returns the object
 * to use, with a reference for the caller.  If another thread has added one meanwhile, returns
 * that one and puts obj.  NULL: obj was put because a key of the shard was removed or
 * replaced meanwhile; open it again.
 *
 * *closing: an object that was evicted and may still report a write-back error, with a
 * reference, or NULL.  The caller writes it out and calls object_cache_finish_closing().
 */
struct store_obj *object_cache_add(struct object_cache *cache,
				   struct store_obj *obj, uint64_t ticket,
				   struct store_obj **closing);
/* Closes an object that object_cache_add() returned as closing, unless it is used again
 * meanwhile, and puts that reference. */
void object_cache_finish_closing(struct object_cache *cache,
				 struct store_obj *obj);
/*
 * Call it after another file, open as fd, has replaced the object's file.  All open objects of the
 * key use the new file from then on.  The caller keeps fd.
 */
void object_cache_replace_file(struct object_cache *cache,
			       struct object_key key, int fd);
/* Call it after the file was unlinked. */
void object_cache_remove(struct object_cache *cache, struct object_key key);

#endif

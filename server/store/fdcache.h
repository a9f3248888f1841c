/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdcache.h - open object files by handle: bounded, least recently used
 * first out, split into shards so that threads hardly ever meet on a lock.
 *
 * A file that clients wrote to, and not yet know to be stable, is kept open for
 * longer, within a bound of its own: an error of that is told to open files.
 *
 * The cache holds one reference to each entry.  What was evicted or removed
 * lives on until its last user puts it.
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
	FDCACHE_KEPT, /* it was to go */
	FDCACHE_LEAVES, /* it goes, if nobody comes for it meanwhile */
	FDCACHE_PLACES
};

struct store_obj {
	uint64_t handle;
	struct store *store;
	int fd;
	atomic_int direct; /* the same file with O_DIRECT, or -1 */
	atomic_uint refs;
	atomic_bool named; /* its name is on stable storage */
	atomic_uint moved; /* times that fd became another file */
	UT_hash_handle hh; /* shard's lock */
	enum fdcache_place place; /* shard's lock */
	TAILQ_ENTRY(store_obj) lru; /* of its list; shard's lock */
	bool leaves; /* fdcache_leave() follows; shard's lock */
	bool known; /* in the shard's list of all */
	LIST_ENTRY(store_obj) all; /* shard's lock */
	struct sync_group group; /* sync_group.c */
	struct sync_wait leave; /* object.c */
};

struct fdcache_shard {
	pthread_mutex_t lock;
	struct store_obj *table;
	struct {
		TAILQ_HEAD(, store_obj) list; /* least recently used first */
		unsigned int n;
	} place[FDCACHE_PLACES];
	LIST_HEAD(, store_obj) all; /* those, and others still in use */
	uint64_t removals; /* an open that saw another is stale */
};

struct fdcache {
	unsigned int shard_max, shard_kept;
	struct fdcache_shard shard[FDCACHE_SHARDS];
};

/* kept: of these, which are beyond max. */
void fdcache_init(struct fdcache *cache, unsigned int max, unsigned int kept);
/* Drops the cache's references. */
void fdcache_destroy(struct fdcache *cache);

/* A new reference, or NULL and the ticket for fdcache_add(). */
struct store_obj *fdcache_find(struct fdcache *cache, uint64_t handle,
			       uint64_t *ticket);
/*
 * Offers a newly opened object, opened after the ticket was drawn.  Returns
 * the object to use, with a reference for the caller (another one if two
 * opened at once: obj is put), or NULL (obj is put) if the handle may have
 * been removed in between: open it again.
 */
struct store_obj *fdcache_add(struct fdcache *cache, struct store_obj *obj,
			      uint64_t ticket);
/* What store_obj_retire() was called for is over. */
void fdcache_leave(struct fdcache *cache, struct store_obj *obj);
/* Before it is closed. */
void fdcache_close(struct fdcache *cache, struct store_obj *obj);
/*
 * To be called after another file, open as fd, took the object's place: whoever has the
 * object open has that one from now on.
 */
void fdcache_swapped(struct fdcache *cache, uint64_t handle, int fd);
/* To be called after the file was unlinked. */
void fdcache_removed(struct fdcache *cache, uint64_t handle);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_engine.h - how bytes get between memory and objects.
 *
 * An engine carries out struct store_io's.  "cached" copies through the page
 * cache: at once, or on a thread of the pool when a read has to wait for the
 * disk, for all writes of a store that is not in memory, or that are held, and for
 * what has a thousand pieces.
 * "direct" moves what is big past the page cache, by itself or on the pool.
 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "server/store/aio.h"
#include "server/store/store.h"
#include "server/store/sync_pool.h"

/* A piece of an object. */
struct store_seg {
	uint64_t off, len;
};

/*
 * len bytes at buf against the pieces of obj, from skip bytes into the first
 * one on.  The caller's until the end.  A read fills with zeros what lies
 * beyond the end of the object.
 */
struct store_io {
	struct store_obj *obj;
	struct sync_pool *pool;
	struct sync_client *client; /* whose turn; NULL: the pool's */
	struct aio *aio; /* "direct"; or NULL: on the pool */
	bool held; /* a write may have to wait for who changes it by himself */
	const struct store_seg *seg; /* their sum is at least skip + len */
	uint64_t skip;
	void *buf;
	size_t len;
	/* a write begins only before this, clock_boot(): else -ETIMEDOUT */
	uint64_t expiry;
	/* when the engine answered -EINPROGRESS: from any thread */
	void (*done)(struct store_io *io, int status);
	/* the engine's */
	struct sync_work work;
	struct aio_op op;
	size_t pos; /* bytes read */
	struct gate_entry entry; /* a write that has begun */
};

struct store_engine {
	const char *name;
	/* 0 or -errno: it is done; -EINPROGRESS: done() follows */
	int (*read)(struct store_io *io);
	int (*write)(struct store_io *io);
	/*
	 * NULL, or: len bytes of the object from off on (a multiple of the
	 * page size) mapped for reading, and seen as they are from then on;
	 * NULL if that cannot be.  In a store in memory they may be written
	 * where store_obj_present(); store_obj_touch() follows.  To be touched
	 * by the kernel alone: what a truncation took away is a fault.
	 * munmap() ends it.
	 */
	void *(*map)(struct store_obj *obj, uint64_t off, size_t len);
};

extern const struct store_engine store_engine_cached;
extern const struct store_engine store_engine_direct;

#endif

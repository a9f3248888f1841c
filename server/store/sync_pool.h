/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_pool.h - threads that wait for the disk, so that no progress thread
 * does, and so that nobody waits for what hangs of another: each kind of work
 * has a lane of its own (lane.h), where clients take turns (fairq.h).
 *
 * Flushes of one object that wait at the same time share one fdatasync (group
 * commit).  The callbacks run on a pool thread and must not block.
 */
#ifndef SYNC_POOL_H
#define SYNC_POOL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "server/store/fairq.h"

struct store_obj;
struct sync_pool;

enum sync_kind {
	SYNC_READ,
	SYNC_WRITE,
	SYNC_FLUSH,
	SYNC_CHANGE, /* sizes and removals, which the manager orders */
	SYNC_CONTROL, /* claims and fences: one at a time */
	SYNC_KINDS
};

/* nthreads: of each kind that are at work at a time, up to 64. */
int sync_pool_open(unsigned int nthreads, struct sync_pool **pool);
/*
 * Finishes all that was handed in and ends the threads; what is handed in
 * later is done at once, by the caller.
 */
void sync_pool_stop(struct sync_pool *pool);
/* Stops it, if need be, and frees it. */
void sync_pool_close(struct sync_pool *pool);

/* What waits of a kind, how long it waited, and how long flushes took.  Any thread. */
struct lane_use;
struct timing;
void sync_pool_use(struct sync_pool *pool, enum sync_kind kind,
		   struct lane_use *use);
const struct timing *sync_pool_waited(const struct sync_pool *pool,
				      enum sync_kind kind);
const struct timing *sync_pool_flushed(const struct sync_pool *pool);

/* Who takes turns with others.  Works have references of their own. */
struct sync_client;
struct sync_client *sync_client_new(void);
void sync_client_put(struct sync_client *client);

/* Something that may block; the struct is the caller's until run(). */
struct sync_work {
	struct fairq_item item; /* private */
	void (*run)(struct sync_work *work);
};
/* client NULL: the pool's own. */
void sync_pool_run(struct sync_pool *pool, struct sync_client *client,
		   enum sync_kind kind, struct sync_work *work);

/* A wish for store_obj_sync(obj); the struct is the caller's until done(). */
struct sync_wait {
	void (*done)(struct sync_wait *wait, int status);
	struct sync_client *client; /* private */
	bool data_only; /* private */
	STAILQ_ENTRY(sync_wait) link; /* private */
};
void sync_pool_flush(struct sync_pool *pool, struct sync_client *client,
		     struct store_obj *obj, struct sync_wait *wait);

/* The same for store_obj_write_out(obj), at the pool's own turn. */
void sync_pool_write_out(struct sync_pool *pool, struct store_obj *obj,
			 struct sync_wait *wait);

/* The waiting flushes of an object; embedded there. */
struct sync_group {
	struct sync_work work;
	struct sync_pool *pool;
	STAILQ_HEAD(sync_waits, sync_wait) waits; /* pool's lock */
	bool busy; /* queued or running; pool's lock */
};
void sync_group_init(struct sync_group *group);

#endif

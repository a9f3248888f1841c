/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_pool.h - threads that wait for the disk, so that no progress thread has to.  Each kind
 * of work has a lane of its own (lane.h), so work of one kind does not wait for hanging work of
 * another.  In each lane clients take turns (fairq.h).
 *
 * Flushes of one object that wait at the same time share one fdatasync (group commit).  All
 * callbacks run on a pool thread and must not block.
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
	SYNC_CHANGE, /* resizes, removals, allocations, copies, counters */
	SYNC_CONTROL, /* claims and fences, one at a time */
	SYNC_KINDS
};

/* nthreads: threads of each kind that work at a time, up to 64; 0: the callers do the work. */
int sync_pool_open(unsigned int nthreads, struct sync_pool **pool);
/*
 * Finishes all queued work and ends the threads.  Work that is queued later is done at once by
 * the caller.
 */
void sync_pool_stop(struct sync_pool *pool);
/* Stops the pool if it still runs, and frees it. */
void sync_pool_close(struct sync_pool *pool);

/* Figures of one kind: queued work, its waiting time, and the duration of flushes.  Any thread. */
struct lane_use;
struct timing;
void sync_pool_use(struct sync_pool *pool, enum sync_kind kind,
		   struct lane_use *use);
const struct timing *sync_pool_waited(const struct sync_pool *pool,
				      enum sync_kind kind);
const struct timing *sync_pool_flushed(const struct sync_pool *pool);

/* A client that takes turns with others.  Queued works hold references of their own. */
struct sync_client;
struct sync_client *sync_client_new(void);
void sync_client_put(struct sync_client *client);

/* Work that may block.  The caller owns the struct, and keeps it until run() is called. */
struct sync_work {
	struct fairq_item item; /* private */
	void (*run)(struct sync_work *work);
};
/* client NULL: the pool's own client. */
void sync_pool_run(struct sync_pool *pool, struct sync_client *client,
		   enum sync_kind kind, struct sync_work *work);

/* A request for store_obj_sync(obj).  The caller owns the struct, and keeps it until done(). */
struct sync_wait {
	void (*done)(struct sync_wait *wait, int status);
	struct sync_client *client; /* private */
	bool data_only; /* private */
	STAILQ_ENTRY(sync_wait) link; /* private */
};
void sync_pool_flush(struct sync_pool *pool, struct sync_client *client,
		     struct store_obj *obj, struct sync_wait *wait);

/* The same for store_obj_write_out(obj), as the pool's own client. */
void sync_pool_write_out(struct sync_pool *pool, struct store_obj *obj,
			 struct sync_wait *wait);

/* The waiting flushes of an object; embedded in it. */
struct sync_group {
	struct sync_work work;
	struct sync_pool *pool;
	STAILQ_HEAD(sync_waits, sync_wait) waits; /* under pool->groups */
	bool busy; /* queued or running; under pool->groups */
};
void sync_group_init(struct sync_group *group);

#endif

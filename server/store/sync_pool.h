/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_pool.h - a few threads that wait for the disk, so that no progress
 * thread does.  Flushes of one object that wait at the same time share one
 * fdatasync (group commit).
 *
 * The callbacks run on a pool thread and must not block.
 */
#ifndef SYNC_POOL_H
#define SYNC_POOL_H

#include <stdbool.h>
#include <sys/queue.h>

struct store_obj;
struct sync_pool;

int sync_pool_open(unsigned int nthreads, struct sync_pool **pool);
/*
 * Finishes all that was handed in and ends the threads; what is handed in
 * later is done at once, by the caller.
 */
void sync_pool_stop(struct sync_pool *pool);
/* Stops it, if need be, and frees it. */
void sync_pool_close(struct sync_pool *pool);

/* Something that may block; the struct is the caller's until run(). */
struct sync_work {
	void (*run)(struct sync_work *work);
	STAILQ_ENTRY(sync_work) link; /* private */
};
void sync_pool_run(struct sync_pool *pool, struct sync_work *work);

/* A wish for store_obj_sync(obj); the struct is the caller's until done(). */
struct sync_wait {
	void (*done)(struct sync_wait *wait, int status);
	STAILQ_ENTRY(sync_wait) link; /* private */
};
void sync_pool_flush(struct sync_pool *pool, struct store_obj *obj,
		     struct sync_wait *wait);

/* The waiting flushes of an object; embedded there, zero at the start. */
struct sync_group {
	struct sync_work work;
	struct sync_pool *pool;
	STAILQ_HEAD(sync_waits, sync_wait) waits; /* pool's lock */
	bool busy; /* queued or running; pool's lock */
};
void sync_group_init(struct sync_group *group);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_pool.h - threads that wait for the disk, so that no progress thread has to.  Each kind
 * of work has a queue of its own, so work of one kind does not wait for hanging
 * work of another.  In each queue clients take turns (fair_queue.h).
 */
#ifndef DISK_POOL_H
#define DISK_POOL_H

#include <stdbool.h>

#include "common/util/histogram.h"
#include "server/store/fair_queue.h"

#define DISK_QUEUE_THREADS 128u /* of a kind, with those that hang */

struct disk_pool;

enum disk_work_kind {
	DISK_READ,
	DISK_WRITE,
	DISK_FLUSH,
	DISK_CHANGE, /* resizes, removals, allocations, copies, counters */
	DISK_ORDER, /* changes that primaries of copysets order */
	DISK_CONTROL, /* claims and fences, one at a time */
	DISK_WORK_KINDS
};

/*
 * nthreads: threads of each kind that work at a time, up to 64.  0: no threads; disk_pool_run()
 * does the work itself.  -ENOMEM, or -errno of the threads.
 */
int disk_pool_open(unsigned int nthreads, struct disk_pool **pool);
/*
 * Finishes all queued work and ends the threads.  Work that is queued later is done at once by
 * the caller.
 */
void disk_pool_stop(struct disk_pool *pool);
/* Stops the pool if it still runs, and frees it. */
void disk_pool_close(struct disk_pool *pool);

/* Figures of one kind: queued work, and its waiting time.  Any thread. */
struct disk_queue_use {
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	unsigned int working, stuck; /* threads */
};
void disk_pool_queue_use(struct disk_pool *pool, enum disk_work_kind kind,
			 struct disk_queue_use *use);
const struct timing *disk_pool_wait_times(const struct disk_pool *pool,
					  enum disk_work_kind kind);

/* A client that takes turns with others.  Queued works hold references of their own. */
struct disk_client;
struct disk_client *disk_client_new(void);
struct disk_client *disk_client_ref(struct disk_client *client);
/* NULL: nothing happens. */
void disk_client_put(struct disk_client *client);

/* Work that may block.  The caller owns the struct, and keeps it until run() is called. */
struct disk_work {
	struct fair_queue_item item; /* private */
	void (*run)(struct disk_work *work);
};
/*
 * Queues work of this kind; a thread of the pool calls work->run().  client: whose turn the work
 * takes; NULL: the pool's own.  May be called from any thread.
 */
void disk_pool_run(struct disk_pool *pool, struct disk_client *client,
		   enum disk_work_kind kind, struct disk_work *work);

#endif

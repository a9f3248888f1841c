/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_queue.h - a queue of works of one kind, and the threads that do them.
 *
 * Only a few threads work at a time: more would not make a disk faster.  A thread that has been at
 * one work for DISK_QUEUE_STUCK_MS is stuck and no longer counts.  Then disk_queue_replace_stuck()
 * starts another thread, up to DISK_QUEUE_THREADS in all.  So a work that hangs delays the others
 * by that time only. The last half of the threads serves only clients that have no work running.
 */
#ifndef DISK_QUEUE_H
#define DISK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/store/fair_queue.h"
#include "common/util/timing.h"

#define DISK_QUEUE_STUCK_MS 100u
#define DISK_QUEUE_THREADS 128u

struct disk_queue_thread {
	struct disk_queue *queue;
	pthread_t thread;
	enum { DISK_THREAD_NONE, DISK_THREAD_RUNS, DISK_THREAD_ENDED } state;
	uint64_t began; /* when its work began, clock_now(); 0: it has none */
	bool stuck;
};

struct disk_queue {
	pthread_mutex_t lock; /* of all fields below */
	pthread_cond_t more, ended;
	struct fair_queue items;
	/*
	 * run: does the item.  over: called when it is done, after fair_queue_item_done() of its
	 * client
	 */
	void (*run)(struct fair_queue_item *item);
	void (*over)(struct fair_queue_client *client);
	/* threads that work at a time; 0: the caller of disk_queue_put() works */
	unsigned int base;
	unsigned int threads, stuck, busy;
	/* threads asleep; threads woken and not yet running */
	unsigned int idle, wakes;
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	/* time in the queue until a thread began; needs no lock */
	struct timing waited;
	bool stop;
	struct disk_queue_thread thread[DISK_QUEUE_THREADS];
};

/*
 * base: threads that work at a time, 0 to DISK_QUEUE_THREADS / 2.  share: how many threads one
 * client may use, including stuck ones.  The first thread is started at once, the others when
 * there is work.  0, or -errno of pthread_create().
 */
int disk_queue_open(struct disk_queue *queue, unsigned int base,
		    unsigned int share);
/*
 * Finishes all queued works and ends the threads.  After that, disk_queue_put() does the work
 * itself.
 */
void disk_queue_stop(struct disk_queue *queue);
/* Only after disk_queue_stop(). */
void disk_queue_close(struct disk_queue *queue);
/*
 * True: the work may have to wait, so the caller makes sure that disk_queue_replace_stuck() is
 * called from time to time.
 */
bool disk_queue_put(struct disk_queue *queue, struct fair_queue_client *client,
		    struct fair_queue_item *item);
struct disk_queue_use {
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	unsigned int working, stuck; /* threads */
};
void disk_queue_use(struct disk_queue *queue, struct disk_queue_use *use);
/* Starts threads in place of the stuck ones.  False: no work is waiting. */
bool disk_queue_replace_stuck(struct disk_queue *queue);

#endif

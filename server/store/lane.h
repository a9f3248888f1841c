/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lane.h - a queue of works of one kind, and the threads that do them.
 *
 * Only a few threads work at a time: more would not make a disk faster.  A thread that has been
 * at one work for LANE_STUCK_MS is stuck and no longer counts.  Then lane_look() starts another
 * thread, up to LANE_MOST in all.  So a work that hangs delays the others by that time only.
 * The last half of the threads serves only clients that have no work running.
 */
#ifndef LANE_H
#define LANE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/store/fairq.h"
#include "common/util/timing.h"

#define LANE_STUCK_MS 100u
#define LANE_MOST 128u

struct lane_thread {
	struct lane *lane;
	pthread_t thread;
	enum { LANE_NONE, LANE_RUNS, LANE_OVER } state;
	uint64_t began; /* when its work began, clock_now(); 0: it has none */
	bool stuck;
};

struct lane {
	pthread_mutex_t lock; /* of all fields below */
	pthread_cond_t more, ended;
	struct fairq queue;
	/* run: does the item.  over: called when it is done, after fairq_done() of its client */
	void (*run)(struct fairq_item *item);
	void (*over)(struct fairq_client *client);
	/* threads that work at a time; 0: the caller of lane_put() works */
	unsigned int base;
	unsigned int threads, stuck, busy;
	/* threads asleep; threads woken and not yet running */
	unsigned int idle, wakes;
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	/* time in the queue until a thread began; needs no lock */
	struct timing waited;
	bool stop;
	struct lane_thread thread[LANE_MOST];
};

/*
 * base: threads that work at a time, 0 to LANE_MOST / 2.  share: how many threads one client
 * may use, including stuck ones.  The first thread is started at once, the others when there is
 * work.  0, or -errno of pthread_create().
 */
int lane_open(struct lane *lane, unsigned int base, unsigned int share);
/* Finishes all queued works and ends the threads.  After that, lane_put() does the work itself. */
void lane_stop(struct lane *lane);
/* Only after lane_stop(). */
void lane_close(struct lane *lane);
/* True: the work may have to wait, so the caller makes sure that lane_look() is called from
 * time to time. */
bool lane_put(struct lane *lane, struct fairq_client *client,
	      struct fairq_item *item);
struct lane_use {
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	unsigned int working, stuck; /* threads */
};
void lane_use(struct lane *lane, struct lane_use *use);
/* Starts threads in place of the stuck ones.  False: no work is waiting. */
bool lane_look(struct lane *lane);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lane.h - works of one kind and the threads that do them.
 *
 * Few are at work at a time: more would not make a disk quicker.  One that has
 * been at the same work for LANE_STUCK_MS is stuck and does not count among
 * them; lane_look() puts another in its place, up to LANE_MOST in all.  So what
 * hangs costs the others that moment, not their turn.  The last half of these
 * are for clients that have none.
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
	uint64_t began; /* its work, clock_now(); 0: has none */
	bool stuck;
};

struct lane {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t more, ended;
	struct fairq queue;
	/* does the item; fairq_done() follows, then over() of its client */
	void (*run)(struct fairq_item *item);
	void (*over)(struct fairq_client *client);
	unsigned int base; /* that work at a time; 0: the caller does it */
	unsigned int threads, stuck, busy;
	unsigned int idle, wakes; /* asleep; called, and not up yet */
	unsigned int waiting, most; /* works that were put and not begun */
	struct timing waited; /* until a thread began; no lock */
	bool stop;
	struct lane_thread thread[LANE_MOST];
};

/*
 * base: threads at work at a time, 0 to LANE_MOST / 2; share: how many one
 * client may have, the stuck ones too.  The first is made at once, the others when there
 * is something to do.  0 or -errno of pthread_create().
 */
int lane_open(struct lane *lane, unsigned int base, unsigned int share);
/* Does all that was put and ends the threads; later the caller does it. */
void lane_stop(struct lane *lane);
/* After lane_stop(). */
void lane_close(struct lane *lane);
/* True: it may have to wait, so somebody must lane_look() now and then. */
bool lane_put(struct lane *lane, struct fairq_client *client,
	      struct fairq_item *item);
struct lane_use {
	unsigned int waiting, most; /* works, now and ever */
	unsigned int working, stuck; /* threads */
};
void lane_use(struct lane *lane, struct lane_use *use);
/* Makes threads in place of the stuck ones.  False: nothing waits for one. */
bool lane_look(struct lane *lane);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper_int.h - the thread that keeps a session alive while its program
 * computes.
 *
 * It answers the servers, and connects again when one was restarted, so that a
 * program that makes no call for hours has its session, its locks and its open
 * files afterwards.
 *
 *              nobody drove for KEEPER_LOOK_MS
 *   LOOKING ------------------------------------> WATCHING
 *   a glance each KEEPER_LOOK_MS                  asleep on the transports'
 *      ^                                          descriptors
 *      +---------- somebody drives again ------------+
 *
 * While requests are under way that are to be tended (drive.h) it watches at once
 * when nobody drives, and goes on with them.  Otherwise
 * calls do not meet it: one that ends tells it nothing, and the first one
 * after a pause sends it back with one write.  While nothing happens it does not
 * wake up, but for its chore.
 */
#ifndef KEEPER_INT_H
#define KEEPER_INT_H

#include "client/lib/session/drive.h"
#include "common/util/log.h"

#define KEEPER_LOOK_MS 500

struct keeper {
	struct drive *drive; /* NULL: there is no thread */
	pthread_t thread;
	int event; /* eventfd */
	atomic_bool stop;
	uint64_t turns; /* of drive, as it was seen last */
	void (*end)(struct keeper *keeper); /* NULL: others end it */
	/* What it does besides, from time to time; NULL: nothing.  Set before the start.
	 * The answer is when it is due again; it may take a call's time. */
	uint64_t (*chore)(struct keeper *keeper);
	uint64_t chore_at; /* clock_now(); the thread's own behind the start */
	atomic_bool hurry; /* it is due now */
};

/* All signals are blocked in the thread.  Without it (logged) the session lives
 * on the program's calls alone. */
void keeper_start(struct keeper *keeper, struct drive *drive,
		  const struct log *log);
/* The chore is due.  Any thread; it does not wait.  False: there is no thread for it. */
bool keeper_hurry(struct keeper *keeper);
/* The thread has ended.  Not from the thread itself; again, or without a start
 * (of one that is zero), it does nothing. */
void keeper_stop(struct keeper *keeper);
/*
 * True: this is the keeper's own thread; it will stop, and call end() as the last
 * that it does.
 */
bool keeper_ends(struct keeper *keeper, void (*end)(struct keeper *keeper));
/* In a child after fork(), which does not have the thread: the descriptor. */
void keeper_abandon(struct keeper *keeper);

#endif

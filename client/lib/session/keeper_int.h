/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper_int.h - the thread that keeps a session alive while its program computes.
 *
 * It answers the servers, and reconnects when one was restarted.  So a program that makes
 * no call for hours keeps its session, its locks and its open files.
 *
 *              no thread drove for KEEPER_LOOK_MS
 *   LOOKING ------------------------------------> WATCHING
 *   a glance each KEEPER_LOOK_MS                  asleep on the transports'
 *      ^                                          descriptors
 *      +---------- a thread drives again ------------+
 *
 * While operations need a driver at all times (drive.tended), the keeper drives whenever no
 * other thread does.  Apart from that, the keeper does not slow calls down.  A call that ends
 * does not notify it.  The first call after a pause writes once to its eventfd, and the keeper
 * goes back to LOOKING.  If no message arrives, the keeper wakes up only for its chore.
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
	uint64_t turns; /* drive.turns when last seen */
	void (*end)(struct keeper *keeper); /* NULL: another thread stops it */
	/* Periodic work, or NULL; set before keeper_start().  Returns the clock_now() at which it
	 * is due again.  May take as long as a call. */
	uint64_t (*chore)(struct keeper *keeper);
	/* clock_now(); only the thread uses it after the start */
	uint64_t chore_at;
	atomic_bool hurry; /* the chore is due now */
};

/*
 * Starts the thread, with all signals blocked.  A failure is logged: then only the program's own
 * calls keep the session alive.
 */
void keeper_start(struct keeper *keeper, struct drive *drive,
		  const struct log *log);
/* Makes the chore due now, from any thread, without waiting.  False: there is no thread. */
bool keeper_hurry(struct keeper *keeper);
/*
 * Stops the thread and waits for its end.  Another thread must call it.  Does nothing if the
 * thread was already stopped, or never started (*keeper is all zero).
 */
void keeper_stop(struct keeper *keeper);
/*
 * If called in the keeper's own thread, returns true; the thread then stops and calls end() as
 * its last step.  In another thread, returns false and does nothing.
 */
bool keeper_ends(struct keeper *keeper, void (*end)(struct keeper *keeper));
/* In a child after fork(), which does not have the thread: closes the descriptor. */
void keeper_abandon(struct keeper *keeper);

#endif

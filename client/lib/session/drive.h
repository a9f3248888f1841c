/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.h - driving the messages: leader and followers.
 *
 * A thread that waits for its operation drives the session's rpc_ctx: it sends and receives
 * messages.  Only one thread drives at a time.  Other threads hand their operations to the
 * driver and sleep.  When the driver's own operation is done, one of the others becomes the
 * driver.  Every operation ends, because its calls have deadlines and some thread drives as
 * long as any thread waits.  If no thread has driven for a while, the keeper, a thread of the
 * library, watches the context (keeper_int.h).  A thread with an operation need not wait for
 * the keeper.
 *
 * The operations of a coroutine (coroutine.h), for which no thread waits, progress in whichever
 * thread drives.  A thread that wants some coroutines to end drives meanwhile (drive_attend()),
 * or sleeps on the descriptors of the context (drive_rest()).
 */
#ifndef DRIVE_H
#define DRIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"

struct coroutine;

/*
 * An operation: some calls in parallel, joined by a counter and the first error.  The
 * caller owns it until drive_run() returns or finish() is called.
 */
struct drive_op {
	/* Starts the calls, each after op_get().  Runs on the driving thread. */
	void (*start)(struct drive_op *op);
	/* Runs after the last call, instead of waking the waiting thread.  May free op. */
	void (*finish)(struct drive_op *op);
	int err; /* 0, or the first error */

	/* private */
	unsigned int left;
	bool waited, done; /* under drive.lock */
	/* not an operation: a thread in drive_attend() that waits to drive */
	bool attends;
	pthread_cond_t cond;
	struct drive *drive;
	struct coroutine *coroutine; /* coroutine that waits for it */
	TAILQ_ENTRY(drive_op) link; /* in drive.submitted */
	TAILQ_ENTRY(drive_op) wait_link; /* in drive.waiters */
};
TAILQ_HEAD(ops, drive_op);

/* An observer that is notified when no thread drives any more. */
struct onlooker {
	int event; /* an eventfd, written to once */
	bool listed; /* under drive.lock, like link */
	LIST_ENTRY(onlooker) link;
};

struct drive {
	atomic_uint refs;
	/* called when the last reference was released, on any thread */
	void (*unused)(struct drive *drive);
	struct rpc_ctx *ctx; /* used by the driving thread only */
	pthread_mutex_t lock; /* protects all below */
	bool busy; /* a thread drives */
	/* how often a thread began to drive, except the watcher */
	uint64_t turns;
	/* eventfd of the watching thread; -1: none, or it need not be notified */
	int watcher;
	LIST_HEAD(, onlooker) onlookers;
	/* eventfd of the thread that drives if no other does and tended is not 0 */
	int tender;
	/* operations in flight that always need a driver */
	atomic_uint tended;
	atomic_uint nsubmitted; /* may be read without the lock */
	struct ops submitted, waiters;
};

/* With one reference.  See struct drive for unused(). */
void drive_init(struct drive *drive, struct rpc_ctx *ctx,
		void (*unused)(struct drive *drive));
void drive_destroy(struct drive *drive);
static inline struct drive *drive_get(struct drive *drive)
{
	atomic_fetch_add(&drive->refs, 1);
	return drive;
}
void drive_put(struct drive *drive);
/*
 * Runs op to its end and returns op->err.  Must not be called in a coroutine, which uses
 * op_run().  All functions of this header leave errno unchanged.
 */
int drive_run(struct drive *drive, struct drive_op *op);

/* Adds op, which has a finish().  The driver or drive_kick() starts it. */
void drive_submit(struct drive *drive, struct drive_op *op);
/* Starts submitted operations, or has the driver start them. */
void drive_kick(struct drive *drive);
/* drive_kick() and drive_put(); does nothing if drive is NULL. */
void drive_kick_put(struct drive *drive);

/*
 * Drives, or waits while another thread drives, until enough(arg) returns true or clock_now()
 * reaches until.  The driver calls enough() after each round.  A thread that changes its result
 * without driving calls drive_notice().
 */
void drive_attend(struct drive *drive, bool (*enough)(void *arg), void *arg,
		  uint64_t until);
void drive_notice(struct drive *drive);

/*
 * For a thread that wants to sleep on descriptors.  If another thread drives, sets *n to 0.
 * Otherwise drives until there is nothing to do, and fills the first *n elements of fd (room for
 * RPC_CTX_FDS).  One of these descriptors becomes readable when there is work; at the clock_now()
 * *until there is work in any case.  After another thread
 * has driven, these descriptors no longer report all work.  onlooker->event is then signalled
 * once, and the caller must call drive_rest() again.  onlooker stays registered until then, or
 * until drive_overlook().  Returns false if there may be more to do.
 */
bool drive_rest(struct drive *drive, struct onlooker *onlooker,
		struct pollfd *fd, unsigned int *n, uint64_t *until);
void drive_overlook(struct drive *drive, struct onlooker *onlooker);

/*
 * For the keeper: begins to drive if no thread drives and either none has driven since the
 * previous call, or operations always need a driver (tended).  *turns is the state between the
 * calls.  Returns true if the keeper now drives, until drive_leave().
 */
bool drive_enter(struct drive *drive, uint64_t *turns);
/* Called between drive_enter() and drive_leave().  Drives; results: see drive_rest(). */
bool drive_settle(struct drive *drive, struct pollfd *fd, unsigned int *n,
		  uint64_t *until);
/*
 * Ends the keeper's driving.  Returns true if there was nothing to do.  In this case the next
 * thread that drives writes once to the eventfd `watcher`, which must stay open until then or until
 * drive_forget().  If watcher is -1, nothing is written.  Returns false if operations have arrived:
 * nothing is written.
 */
bool drive_leave(struct drive *drive, int watcher);
void drive_forget(struct drive *drive);

/* start() calls op_get() for each call that it begins; done() of the call calls op_put(). */
static inline void op_get(struct drive_op *op)
{
	op->left++;
}
void op_put(struct drive_op *op, int err);

#endif

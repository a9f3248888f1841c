/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.h - driving the messages: leader and followers.
 *
 * A thread that waits for its operation drives the progress context itself.  Threads that
 * arrive meanwhile hand their operations to it.  They sleep until their operation is
 * done, or until the driver is done and one of them takes over.  Every operation ends,
 * because its calls have deadlines and some thread drives as long as any thread waits.
 * If no thread has driven for a while, a thread of the library watches the context
 * (keeper_int.h).  It does not delay the others, which take over as if it were not there.
 *
 * Operations of calls that no thread waits for (coroutine.h) are continued by any driving
 * thread.  A thread with such calls drives as long as it waits for some of them
 * (drive_attend()), or sleeps on descriptors (drive_rest()).
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
	bool attends; /* no operation, only a place among the waiters */
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
	/* eventfd of the thread that drives if no other does, while ... */
	int tender;
	atomic_uint tended; /* ... operations are in flight that require it */
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
 * Runs op to its end and returns op->err; not in a coroutine (op_run()).  Keeps errno, like
 * everything here: a call of the C interface changes errno only on failure.
 */
int drive_run(struct drive *drive, struct drive_op *op);

/* Adds op, which has a finish().  The driver or drive_kick() starts it. */
void drive_submit(struct drive *drive, struct drive_op *op);
/* Starts submitted operations, or has the driver start them. */
void drive_kick(struct drive *drive);
/* The same, and releases a reference; with drive NULL, does nothing. */
void drive_kick_put(struct drive *drive);

/*
 * Drives, or waits while another thread does, until enough(arg) is true, or until the
 * given time (ns).  enough() is checked after each round.  Threads that do not drive call
 * drive_notice() after a change of enough().
 */
void drive_attend(struct drive *drive, bool (*enough)(void *arg), void *arg,
		  uint64_t until);
void drive_notice(struct drive *drive);

/*
 * For a thread that sleeps on descriptors: drives until nothing is left to do.
 * Afterwards one of the first *n descriptors of fd (room for RPC_CTX_FDS) becomes
 * readable when there is work; at *until there is work in any case.  If another thread
 * drives meanwhile, this no longer holds, and onlooker is notified.  *n is 0 if another
 * thread drives.  False: there may be more to do.  onlooker stays registered until it is
 * notified, or drive_overlook().
 */
bool drive_rest(struct drive *drive, struct onlooker *onlooker,
		struct pollfd *fd, unsigned int *n, uint64_t *until);
void drive_overlook(struct drive *drive, struct onlooker *onlooker);

/*
 * For the watcher: starts to drive if no thread does and none has since *turns, or if
 * operations require it.  Updates *turns.  True: the watcher may use drive->ctx until
 * drive_leave().
 */
bool drive_enter(struct drive *drive, uint64_t *turns);
/* Between these: drives until nothing is left to do; results as in drive_rest(). */
bool drive_settle(struct drive *drive, struct pollfd *fd, unsigned int *n,
		  uint64_t *until);
/*
 * Stops driving.  watcher: an eventfd that is written to once, when a thread begins to
 * drive; -1: none.  It must stay open until then, or until drive_forget().  True: it will
 * be written to.  False: operations arrived meanwhile.
 */
bool drive_leave(struct drive *drive, int watcher);
void drive_forget(struct drive *drive);

/* Called from start(): one more call; from done() of a call: one less. */
static inline void op_get(struct drive_op *op)
{
	op->left++;
}
void op_put(struct drive_op *op, int err);

#endif

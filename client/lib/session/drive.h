/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.h - who moves the messages: leader and followers.
 *
 * A thread that waits for its operation drives the progress context itself;
 * threads that come meanwhile hand their operations to it and sleep until they
 * are done, or until the driver is, and one of them takes over.  Every
 * operation ends, because its calls have deadlines and somebody drives as long
 * as anybody waits.  When nobody has driven for a while a thread of the library
 * watches the context (keeper_int.h), out of the way of those who come: they
 * take over as if it were not there.
 *
 * Operations of calls that no thread waits for (strand.h) go on with whoever drives.
 * Who has such calls under way drives as long as he waits for some of them
 * (drive_attend()), or sleeps on descriptors with much else (drive_rest()).
 */
#ifndef DRIVE_H
#define DRIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"

struct strand;

/*
 * An operation: some calls at once, joined by a counter and the first error.
 * Owned by the caller until drive_run() returns or finish() is called.
 */
struct op {
	/* Starts the calls, each after op_get(); on the driving thread. */
	void (*start)(struct op *op);
	/* After the last call, instead of waking who waits; may free op. */
	void (*finish)(struct op *op);
	int err; /* 0, or the first error */

	/* private */
	unsigned int left;
	bool waited, done; /* under drive.lock */
	bool attends; /* no operation: a place among those who wait */
	pthread_cond_t cond;
	struct drive *drive;
	struct strand *strand; /* that stopped for it */
	TAILQ_ENTRY(op) link; /* submitted */
	TAILQ_ENTRY(op) wait_link; /* waiters */
};
TAILQ_HEAD(ops, op);

/* Who is told when nobody drives any more. */
struct onlooker {
	int event; /* an eventfd, written to once */
	bool listed; /* under drive.lock, with link */
	LIST_ENTRY(onlooker) link;
};

struct drive {
	struct rpc_ctx *ctx; /* of the driving thread */
	pthread_mutex_t lock; /* all below */
	bool busy; /* somebody drives */
	uint64_t turns; /* times that somebody began to, but for the watcher */
	int watcher; /* eventfd of who watches while nobody drives; -1: none
		      * does, or nobody who would have to be told */
	LIST_HEAD(, onlooker) onlookers;
	int tender; /* eventfd of who drives when nobody else does, while ... */
	atomic_uint tended; /* ... operations are under way that want it */
	atomic_uint nsubmitted; /* read without the lock */
	struct ops submitted, waiters;
};

void drive_init(struct drive *drive, struct rpc_ctx *ctx);
void drive_destroy(struct drive *drive);
/* Runs op to its end and returns op->err.  errno stays as it is, as everywhere
 * here: a call of the C interface changes it only when it fails. */
int drive_run(struct drive *drive, struct op *op);
/* Starts op, which has a finish(), and does not wait. */
void drive_post(struct drive *drive, struct op *op);

/* Adds op, which has a finish(); it is begun by who drives, or drive_kick(). */
void drive_submit(struct drive *drive, struct op *op);
/* Begins what was submitted, or has it begun by who drives. */
void drive_kick(struct drive *drive);

/*
 * Drives, or waits while others do, until enough(arg), which is asked after each
 * round, or until that time (ns).  Others than who drives call drive_notice() when
 * enough() has changed.
 */
void drive_attend(struct drive *drive, bool (*enough)(void *arg), void *arg,
		  uint64_t until);
void drive_notice(struct drive *drive);

/*
 * For who sleeps on descriptors: drives until there is nothing to do; then one of
 * the first *n of fd (room for RPC_CTX_FDS) becomes readable when there is, and at
 * *until there is without that; and onlooker is told when others drove meanwhile,
 * since nothing of this holds then.  *n 0: others drive.  False: there may be more
 * to do.  onlooker stays until it was told, or drive_overlook().
 */
bool drive_rest(struct drive *drive, struct onlooker *onlooker,
		struct pollfd *fd, unsigned int *n, uint64_t *until);
void drive_overlook(struct drive *drive, struct onlooker *onlooker);

/*
 * For who watches: to drive, if nobody does and nobody has since *turns, which
 * it brings up to date, or operations are to be tended.  Between the two it may use drive->ctx.
 */
bool drive_enter(struct drive *drive, uint64_t *turns);
/* In between: drives until there is nothing to do, as drive_rest() has it. */
bool drive_settle(struct drive *drive, struct pollfd *fd, unsigned int *n,
		  uint64_t *until);
/*
 * watcher: an eventfd that is written to, once, when somebody begins to drive;
 * it stays open until then or until drive_forget().  -1: none.  True: so it
 * will be; false: others came meanwhile.
 */
bool drive_leave(struct drive *drive, int watcher);
void drive_forget(struct drive *drive);

/* From start() and from done() of a call: one call more, one less. */
static inline void op_get(struct op *op)
{
	op->left++;
}
void op_put(struct op *op, int err);

#endif

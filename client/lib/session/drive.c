/* SPDX-License-Identifier: BSD-2-Clause */
/* drive.c - leader and followers of one progress context. */
#include "client/lib/session/drive.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"

/* only a safeguard, because calls end by themselves */
#define SLICE_MS 1000
#define ROUNDS 100 /* maximum in a row; then other work may be pending */

void drive_init(struct drive *drive, struct rpc_ctx *ctx,
		void (*unused)(struct drive *drive))
{
	atomic_init(&drive->refs, 1);
	drive->unused = unused;
	drive->ctx = ctx;
	pthread_mutex_init(&drive->lock, NULL);
	drive->busy = false;
	drive->turns = 0;
	drive->watcher = -1;
	drive->tender = -1;
	LIST_INIT(&drive->onlookers);
	atomic_init(&drive->tended, 0);
	atomic_init(&drive->nsubmitted, 0);
	TAILQ_INIT(&drive->submitted);
	TAILQ_INIT(&drive->waiters);
}

void drive_destroy(struct drive *drive)
{
	pthread_mutex_destroy(&drive->lock);
}

void drive_put(struct drive *drive)
{
	if (atomic_fetch_sub(&drive->refs, 1) == 1)
		drive->unused(drive);
}

/* Called with the lock.  This thread drives from now on. */
static void drive_take(struct drive *drive)
{
	drive->busy = true;
	drive->turns++;
	if (drive->watcher < 0)
		return;
	eventfd_write(drive->watcher, 1);
	drive->watcher = -1;
}

static void op_end(struct drive_op *op)
{
	struct drive *drive = op->drive;

	if (op->finish) {
		op->finish(op);
		return;
	}
	if (!op->waited)
		return;
	pthread_mutex_lock(&drive->lock);
	op->done = true;
	TAILQ_REMOVE(&drive->waiters, op, wait_link);
	pthread_cond_signal(&op->cond);
	pthread_mutex_unlock(&drive->lock);
}

void op_put(struct drive_op *op, int err)
{
	if (err && !op->err)
		op->err = err;
	if (--op->left == 0)
		op_end(op);
}

static void op_begin(struct drive_op *op)
{
	op->left = 1;
	op->start(op);
	op_put(op, 0);
}

/* Called and returns with the lock held. */
static bool start_submitted(struct drive *drive)
{
	struct drive_op *op = TAILQ_FIRST(&drive->submitted);

	if (!op)
		return false;
	do {
		TAILQ_REMOVE(&drive->submitted, op, link);
		atomic_fetch_sub(&drive->nsubmitted, 1);
		pthread_mutex_unlock(&drive->lock);
		op_begin(op);
		pthread_mutex_lock(&drive->lock);
	} while ((op = TAILQ_FIRST(&drive->submitted)));
	return true;
}

/* The driver starts the operations that others submitted. */
static void drive_look(struct drive *drive)
{
	if (!atomic_load_explicit(&drive->nsubmitted, memory_order_acquire))
		return;
	pthread_mutex_lock(&drive->lock);
	start_submitted(drive);
	pthread_mutex_unlock(&drive->lock);
}

static void drive_lead(struct drive *drive, struct drive_op *op)
{
	while (op->left) {
		drive_look(drive);
		rpc_ctx_progress(drive->ctx, clock_after_ms(SLICE_MS));
	}
}

/*
 * Called with the lock, when no thread drives any more.  Notifies the onlookers, except
 * self.
 */
static void onlookers_notify(struct drive *drive, const struct onlooker *self,
			     bool watched)
{
	struct onlooker *o = LIST_FIRST(&drive->onlookers), *next;

	for (; o; o = next) {
		next = LIST_NEXT(o, link);
		if (o == self)
			continue;
		LIST_REMOVE(o, link);
		o->listed = false;
		eventfd_write(o->event, 1);
	}
	if (!watched && atomic_load(&drive->tended) && drive->tender >= 0)
		eventfd_write(drive->tender, 1);
}

/*
 * Stops driving.  The first waiter takes over, including operations that are not started yet:
 * otherwise this thread would have to drive as long as other threads submit operations.
 * watcher: see drive_leave().  onlooker, if not NULL, is not notified.  True: there was
 * nothing to do.
 */
static bool drive_resign(struct drive *drive, int watcher,
			 const struct onlooker *onlooker)
{
	bool idle = true;
	struct drive_op *next;

	pthread_mutex_lock(&drive->lock);
	while (!(next = TAILQ_FIRST(&drive->waiters)) &&
	       start_submitted(drive)) {
		idle = false;
		pthread_mutex_unlock(&drive->lock);
		rpc_ctx_progress(drive->ctx, 0);
		pthread_mutex_lock(&drive->lock);
	}
	idle = idle && !next;
	drive->busy = false;
	if (idle)
		drive->watcher = watcher;
	if (next)
		pthread_cond_signal(&next->cond);
	else
		onlookers_notify(drive, onlooker, idle && watcher >= 0);
	pthread_mutex_unlock(&drive->lock);
	return idle;
}

/* Called with the lock.  The driver may be asleep in rpc_ctx_progress(). */
static void op_submit_locked(struct drive *drive, struct drive_op *op)
{
	TAILQ_INSERT_TAIL(&drive->submitted, op, link);
	atomic_fetch_add(&drive->nsubmitted, 1);
	rpc_ctx_wake(drive->ctx);
}

/* Called with the lock.  True: op is not done, and this thread drives now. */
static bool drive_follow(struct drive *drive, struct drive_op *op)
{
	op->waited = true;
	op->attends = false;
	pthread_cond_init(&op->cond, NULL);
	TAILQ_INSERT_TAIL(&drive->waiters, op, wait_link);
	op_submit_locked(drive, op);
	watched_descriptor_hand_over();
	while (!op->done && drive->busy)
		pthread_cond_wait(&op->cond, &drive->lock);
	pthread_cond_destroy(&op->cond);
	if (op->done)
		return false;
	TAILQ_REMOVE(&drive->waiters, op, wait_link);
	op->waited = false;
	drive_take(drive);
	return true;
}

int drive_run(struct drive *drive, struct drive_op *op)
{
	int cancel, saved = errno;
	bool mine, leads = true;

	op->drive = drive;
	op->err = 0;
	op->left = 1; /* not started yet */
	op->waited = false;
	op->done = false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&drive->lock);
	mine = !drive->busy;
	if (mine)
		drive_take(drive);
	else
		leads = drive_follow(drive, op);
	pthread_mutex_unlock(&drive->lock);
	if (mine) {
		drive_look(drive); /* operations submitted earlier come first */
		op_begin(op);
	}
	if (leads) {
		drive_lead(drive, op);
		drive_resign(drive, -1, NULL);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return op->err;
}

void drive_submit(struct drive *drive, struct drive_op *op)
{
	op->drive = drive;
	op->err = 0;
	op->waited = false;
	op->done = false;
	pthread_mutex_lock(&drive->lock);
	TAILQ_INSERT_TAIL(&drive->submitted, op, link);
	atomic_fetch_add(&drive->nsubmitted, 1);
	pthread_mutex_unlock(&drive->lock);
}

/* ---- the watcher ---- */

bool drive_enter(struct drive *drive, uint64_t *turns)
{
	bool is;

	pthread_mutex_lock(&drive->lock);
	is = !drive->busy &&
	     (drive->turns == *turns || atomic_load(&drive->tended));
	*turns = drive->turns;
	drive->watcher = -1;
	if (is)
		drive->busy = true;
	pthread_mutex_unlock(&drive->lock);
	return is;
}

bool drive_leave(struct drive *drive, int watcher)
{
	return drive_resign(drive, watcher, NULL);
}

void drive_forget(struct drive *drive)
{
	pthread_mutex_lock(&drive->lock);
	drive->watcher = -1;
	pthread_mutex_unlock(&drive->lock);
}

/* ---- operations without a waiting thread ---- */

void drive_kick(struct drive *drive)
{
	int cancel, saved = errno;
	bool mine;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&drive->lock);
	mine = !drive->busy;
	if (mine)
		drive_take(drive);
	else
		rpc_ctx_wake(drive->ctx);
	pthread_mutex_unlock(&drive->lock);
	if (mine) {
		drive_look(drive);
		rpc_ctx_progress(drive->ctx, 0);
		drive_resign(drive, -1, NULL);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

void drive_kick_put(struct drive *drive)
{
	if (!drive)
		return;
	drive_kick(drive);
	drive_put(drive);
}

/* ---- waiting for some of the operations ---- */

static uint64_t slice_end(uint64_t until)
{
	uint64_t end = clock_after_ms(SLICE_MS);

	return until < end ? until : end;
}

static void lead_for(struct drive *drive, bool (*enough)(void *arg), void *arg,
		     uint64_t until)
{
	do {
		drive_look(drive);
		rpc_ctx_progress(drive->ctx, slice_end(until));
	} while (!enough(arg) && clock_now() < until);
}

/* Called with the lock.  Waits as a follower, until drive_notice() or until. */
static void stand_by(struct drive *drive, uint64_t until)
{
	struct timespec ts = clock_timespec(slice_end(until));
	struct drive_op self = { .waited = true };
	struct drive_op *next;

	pthread_cond_init(&self.cond, NULL);
	self.attends = true;
	TAILQ_INSERT_TAIL(&drive->waiters, &self, wait_link);
	pthread_cond_clockwait(&self.cond, &drive->lock, CLOCK_MONOTONIC, &ts);
	TAILQ_REMOVE(&drive->waiters, &self, wait_link);
	pthread_cond_destroy(&self.cond);
	/* the signal may have meant this thread to drive: pass it on */
	next = TAILQ_FIRST(&drive->waiters);
	if (!drive->busy && next)
		pthread_cond_signal(&next->cond);
}

void drive_attend(struct drive *drive, bool (*enough)(void *arg), void *arg,
		  uint64_t until)
{
	pthread_mutex_lock(&drive->lock);
	do {
		if (drive->busy) {
			stand_by(drive, until);
			continue;
		}
		drive_take(drive);
		pthread_mutex_unlock(&drive->lock);
		lead_for(drive, enough, arg, until);
		drive_resign(drive, -1, NULL);
		pthread_mutex_lock(&drive->lock);
	} while (!enough(arg) && clock_now() < until);
	pthread_mutex_unlock(&drive->lock);
}

void drive_notice(struct drive *drive)
{
	struct drive_op *op;

	pthread_mutex_lock(&drive->lock);
	TAILQ_FOREACH(op, &drive->waiters, wait_link)
		if (op->attends)
			pthread_cond_signal(&op->cond);
	if (drive->busy)
		rpc_ctx_wake(drive->ctx);
	pthread_mutex_unlock(&drive->lock);
}

/* ---- sleeping on descriptors ---- */

bool drive_settle(struct drive *drive, struct pollfd *fd, unsigned int *n,
		  uint64_t *until)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		drive_look(drive);
		if (!rpc_ctx_rest(drive->ctx, fd, n, until))
			return true;
	}
	return false;
}

static void look_on(struct drive *drive, struct onlooker *onlooker)
{
	if (!onlooker->listed)
		LIST_INSERT_HEAD(&drive->onlookers, onlooker, link);
	onlooker->listed = true;
}

bool drive_rest(struct drive *drive, struct onlooker *onlooker,
		struct pollfd *fd, unsigned int *n, uint64_t *until)
{
	bool mine, settled = true;

	*n = 0;
	*until = CLOCK_NEVER;
	pthread_mutex_lock(&drive->lock);
	look_on(drive, onlooker);
	mine = !drive->busy;
	if (mine)
		drive_take(drive);
	pthread_mutex_unlock(&drive->lock);
	if (mine) {
		settled = drive_settle(drive, fd, n, until);
		settled = drive_resign(drive, -1, onlooker) && settled;
	}
	return settled;
}

void drive_overlook(struct drive *drive, struct onlooker *onlooker)
{
	pthread_mutex_lock(&drive->lock);
	if (onlooker->listed)
		LIST_REMOVE(onlooker, link);
	onlooker->listed = false;
	pthread_mutex_unlock(&drive->lock);
}

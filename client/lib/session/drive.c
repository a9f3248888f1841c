/* SPDX-License-Identifier: BSD-2-Clause */
/* drive.c - leader and followers of one progress context. */
#include <errno.h>
#include <sys/eventfd.h>

#include "common/util/clock.h"
#include "client/lib/session/drive_int.h"
#include "common/util/lookout.h"
#include "client/lib/session/strand.h"

void drive_init(struct drive *drive, struct rpc_ctx *ctx)
{
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

void drive_take(struct drive *drive)
{
	drive->busy = true;
	drive->turns++;
	if (drive->watcher < 0)
		return;
	eventfd_write(drive->watcher, 1);
	drive->watcher = -1;
}

static void op_end(struct op *op)
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

void op_put(struct op *op, int err)
{
	if (err && !op->err)
		op->err = err;
	if (--op->left == 0)
		op_end(op);
}

static void op_begin(struct op *op)
{
	op->left = 1;
	op->start(op);
	op_put(op, 0);
}

/* Called and returns with the lock held. */
static bool start_submitted(struct drive *drive)
{
	struct op *op = TAILQ_FIRST(&drive->submitted);

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

void drive_look(struct drive *drive)
{
	if (!atomic_load_explicit(&drive->nsubmitted, memory_order_acquire))
		return;
	pthread_mutex_lock(&drive->lock);
	start_submitted(drive);
	pthread_mutex_unlock(&drive->lock);
}

static void drive_lead(struct drive *drive, struct op *op)
{
	while (op->left) {
		drive_look(drive);
		rpc_ctx_progress(drive->ctx, clock_after_ms(DRIVE_SLICE_MS));
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
 * The first waiter takes over, including operations that are not started yet.  A driver
 * that stayed for the others could be kept as long as they return with more.
 */
bool drive_resign(struct drive *drive, int watcher,
		  const struct onlooker *onlooker)
{
	bool idle = true;
	struct op *next;

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
static void op_submit_locked(struct drive *drive, struct op *op)
{
	TAILQ_INSERT_TAIL(&drive->submitted, op, link);
	atomic_fetch_add(&drive->nsubmitted, 1);
	rpc_ctx_wake(drive->ctx);
}

/* Called with the lock.  True: op is not done, and this thread drives now. */
static bool drive_follow(struct drive *drive, struct op *op)
{
	op->waited = true;
	op->attends = false;
	pthread_cond_init(&op->cond, NULL);
	TAILQ_INSERT_TAIL(&drive->waiters, op, wait_link);
	op_submit_locked(drive, op);
	lookout_leave();
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

static void drive_or_follow(struct drive *drive, struct op *op)
{
	bool mine;

	pthread_mutex_lock(&drive->lock);
	mine = !drive->busy;
	if (mine)
		drive_take(drive);
	else if (!drive_follow(drive, op)) {
		pthread_mutex_unlock(&drive->lock);
		return;
	}
	pthread_mutex_unlock(&drive->lock);
	if (mine) {
		drive_look(drive); /* operations submitted earlier come first */
		op_begin(op);
	}
	drive_lead(drive, op);
	drive_resign(drive, -1, NULL);
}

static int run_in_thread(struct drive *drive, struct op *op)
{
	int cancel, saved = errno;

	op->drive = drive;
	op->err = 0;
	op->left = 1; /* not started yet */
	op->waited = false;
	op->done = false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	drive_or_follow(drive, op);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return op->err;
}

int drive_run(struct drive *drive, struct op *op)
{
	struct strand *strand = strand_self();

	return strand ? strand_await(strand, drive, op)
		      : run_in_thread(drive, op);
}

void drive_submit(struct drive *drive, struct op *op)
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

void drive_post(struct drive *drive, struct op *op)
{
	struct strand *strand = strand_self();

	drive_submit(drive, op);
	if (strand)
		strand_owes(strand, drive);
	else
		drive_kick(drive);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* attend.c - driving for operations without a waiting thread, see drive.h. */
#include <errno.h>
#include <time.h>

#include "common/util/clock.h"
#include "client/lib/session/drive_int.h"

#define ROUNDS 100 /* maximum in a row; then other work may be pending */

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

/* ---- waiting for some of the operations ---- */

static uint64_t slice_end(uint64_t until)
{
	uint64_t end = clock_after_ms(DRIVE_SLICE_MS);

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
	struct op self = { .waited = true };
	struct op *next;

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
	struct op *op;

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

/* SPDX-License-Identifier: BSD-2-Clause */
/* keeper.c - looking and watching, see keeper_int.h. */
#include "client/lib/session/keeper_int.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/quiet_thread.h"
#include "common/comm/rpc.h"

/* The resolver runs on this stack, and the callback of pvfs_set_log(). */
#define STACK (PTHREAD_STACK_MIN + (256u << 10))

/* set in the thread of the keeper */
static _Thread_local const struct keeper *self;

/* The descriptors to sleep on, and the timeout. */
struct keeper_sleep {
	struct pollfd fd[1 + RPC_CTX_FDS]; /* fd[0] is the keeper's event */
	unsigned int n; /* without fd[0] */
	uint64_t until;
};

static void keeper_look(struct keeper *k, struct keeper_sleep *rest)
{
	bool watch = false;

	if (drive_enter(k->drive, &k->turns)) {
		watch = drive_settle(k->drive, rest->fd + 1, &rest->n,
				     &rest->until);
		watch = drive_leave(k->drive, watch ? k->event : -1) && watch;
	}
	if (watch)
		return;
	rest->n = 0;
	rest->until = clock_after_ms(KEEPER_LOOK_MS);
}

/* The program has closed descriptors of the library, so no event would wake this thread. */
static bool is_closed(const struct keeper_sleep *rest)
{
	unsigned int i;

	for (i = 0; i <= rest->n; i++)
		if (rest->fd[i].revents & POLLNVAL)
			return true;
	return false;
}

static void keeper_rest(struct keeper *k, struct keeper_sleep *rest)
{
	uint64_t until = rest->until;
	eventfd_t count;

	if (k->chore && k->chore_at < until)
		until = k->chore_at;

	rest->fd[0] = (struct pollfd){ .fd = k->event, .events = POLLIN };
	if (poll(rest->fd, rest->n + 1, clock_left_ms(until)) <= 0)
		return;
	if (is_closed(rest))
		poll(NULL, 0, KEEPER_LOOK_MS);
	else if (rest->fd[0].revents)
		eventfd_read(k->event, &count);
}

static void do_chore(struct keeper *k)
{
	if (!k->chore || atomic_load(&k->stop))
		return;
	if (atomic_exchange(&k->hurry, false) || clock_now() >= k->chore_at)
		k->chore_at = k->chore(k);
}

/* No other thread is left to join this one. */
static void end_alone(struct keeper *k)
{
	pthread_detach(pthread_self());
	drive_forget(k->drive);
	k->drive = NULL;
	close(k->event);
	k->end(k);
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;
	struct keeper_sleep r = { .until = clock_after_ms(KEEPER_LOOK_MS) };

	self = k;
	while (!atomic_load(&k->stop)) {
		keeper_rest(k, &r);
		keeper_look(k, &r);
		do_chore(k);
	}
	if (k->end)
		end_alone(k);
	return NULL;
}

bool keeper_ends(struct keeper *k, void (*end)(struct keeper *k))
{
	if (self != k)
		return false;
	k->end = end;
	atomic_store(&k->stop, true);
	return true;
}

/* ---- start and stop ---- */

static int thread_make(struct keeper *k)
{
	int rc = quiet_thread(STACK, keeper_main, k, &k->thread);

	if (!rc)
		pthread_setname_np(k->thread, "pvfs");
	return rc;
}

static int keeper_make(struct keeper *k, struct drive *drive)
{
	int rc;

	k->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (k->event < 0)
		return -errno;
	atomic_init(&k->stop, false);
	k->turns = 0;
	k->drive = drive;
	drive->tender = k->event;
	rc = thread_make(k);
	if (!rc)
		return 0;
	drive->tender = -1;
	k->drive = NULL;
	close(k->event);
	return rc;
}

void keeper_start(struct keeper *k, struct drive *drive, const struct log *log)
{
	int rc = keeper_make(k, drive);

	if (rc)
		log_warn(log,
			 "no thread to keep the session alive: %s; a restart of "
			 "the servers ends it if the program makes no call",
			 strerror(-rc));
}

bool keeper_hurry(struct keeper *k)
{
	if (!k->drive)
		return false;
	if (!atomic_exchange(&k->hurry, true))
		eventfd_write(k->event, 1);
	return true;
}

void keeper_stop(struct keeper *k)
{
	if (!k->drive)
		return;
	atomic_store(&k->stop, true);
	eventfd_write(k->event, 1);
	pthread_join(k->thread, NULL);
	drive_forget(k->drive);
	k->drive = NULL;
	close(k->event);
}

void keeper_abandon(struct keeper *k)
{
	if (k->drive)
		close(k->event);
	k->drive = NULL;
}

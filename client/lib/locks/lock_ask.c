/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_ask.c - waiting for a lock so that a signal can end the wait.
 *
 * A thread that sleeps for a reply uses a call that every signal handler interrupts.  It
 * cannot tell whether the program wants the wait to end.  The kernel can: it restarts a
 * futex wait without a timeout after a handler with SA_RESTART, and only then.  So a
 * separate thread waits at the manager, and the caller's thread waits on a futex for that
 * thread:
 *
 * 	caller     futex_wait ......... EINTR: LOCK with WIRE_L_CANCEL, until over
 * 	waiter     LOCK with WIRE_L_WAIT, again and again ............... over
 *
 * The last answer to the waiter says whether the lock is taken.
 */
#include "client/lib/locks/lock_ask_int.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/quiet_thread.h"
#include "client/lib/session/coroutine.h"

#define STACK_SIZE (256u * 1024)
/* delay before a repeated CANCEL: one may arrive between two LOCK requests */
#define CANCEL_FIRST_MS 10u
#define CANCEL_MOST_MS 1000u

struct waiter {
	atomic_uint refs; /* held by the caller and the thread */
	_Atomic uint32_t over; /* the futex word */
	atomic_bool interrupted;
	struct file *f;
	struct mgr_lock lock;
	int rc;
};

static int do_lock(struct session *s, const struct target *t, void *arg)
{
	struct mgr_lock *lock = arg;

	lock->session = s->id;
	return mgr_lock(s, t, lock);
}

static void waiter_put(struct waiter *w)
{
	if (atomic_fetch_sub(&w->refs, 1) == 1)
		free(w);
}

/* The manager limits each wait.  The client asks again as long as the manager answers. */
static int ask_again(struct waiter *w)
{
	const struct mgr_lock want = w->lock;
	int rc;

	do {
		w->lock = want;
		rc = file_run(w->f, do_lock, &w->lock);
	} while (rc == -EAGAIN && !atomic_load(&w->interrupted));
	return rc == -EAGAIN ? -EINTR : rc;
}

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;

	w->rc = ask_again(w);
	atomic_store(&w->over, 1);
	syscall(SYS_futex, &w->over, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	waiter_put(w);
	return NULL;
}

/* False: interrupted, or ms milliseconds have passed.  ms 0: no limit. */
static bool sleep_until_over(struct waiter *w, unsigned int ms)
{
	const struct timespec most = { .tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000l };

	while (!atomic_load(&w->over))
		if (syscall(SYS_futex, &w->over, FUTEX_WAIT_PRIVATE, 0,
			    ms ? &most : NULL, NULL, 0) &&
		    errno != EAGAIN)
			return false;
	return true;
}

static void waiter_cancel(struct waiter *w, const struct mgr_lock *want)
{
	struct mgr_lock lock = *want;
	struct session *s;

	lock.type = WIRE_L_UNLOCK;
	lock.flags = WIRE_L_CANCEL | (want->flags & WIRE_L_WHOLE);
	if (fs_session(w->f->fs, &s))
		return;
	mgr_unlock(s, w->f->handle, &lock);
	session_put(s);
}

static void waiter_interrupt(struct waiter *w, const struct mgr_lock *want)
{
	unsigned int ms = CANCEL_FIRST_MS;

	atomic_store(&w->interrupted, true);
	do {
		deadline_begin();
		waiter_cancel(w, want);
		ms = ms < CANCEL_MOST_MS ? 2 * ms : CANCEL_MOST_MS;
	} while (!sleep_until_over(w, ms));
}

static int wait_for(struct file *f, struct mgr_lock *lock)
{
	struct waiter *w = calloc(1, sizeof(*w));
	int rc, saved = errno;

	if (!w)
		return -ENOMEM;
	atomic_init(&w->refs, 2);
	w->f = f;
	w->lock = *lock;
	/* the thread blocks all signals, which are for the caller */
	rc = quiet_thread(STACK_SIZE, waiter_main, w, NULL);
	if (rc) {
		free(w);
		return -ENOLCK;
	}
	if (!sleep_until_over(w, 0))
		waiter_interrupt(w, lock);
	rc = w->rc;
	*lock = w->lock;
	waiter_put(w);
	errno = saved;
	return rc;
}

/* In a strand, no thread sleeps and no signal ends the wait. */
static int wait_in_strand(struct file *f, struct mgr_lock *lock)
{
	const struct mgr_lock want = *lock;
	int rc;

	do {
		*lock = want;
		deadline_begin();
		rc = file_run(f, do_lock, lock);
	} while (rc == -EAGAIN);
	return rc;
}

int lock_ask(struct file *f, struct mgr_lock *lock)
{
	struct mgr_lock now = *lock;
	int rc;

	now.flags &= ~WIRE_L_WAIT;
	rc = file_run(f, do_lock, &now);
	if (rc == -EAGAIN && lock->flags & WIRE_L_WAIT)
		return strand_self() ? wait_in_strand(f, lock)
				     : wait_for(f, lock);
	if (!rc)
		*lock = now;
	return rc;
}

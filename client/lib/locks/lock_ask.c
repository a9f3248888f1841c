/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_ask.c - waiting for a lock, so that a signal can end it.
 *
 * Whoever sleeps for a reply sleeps in a call that every signal's handler
 * interrupts, and cannot tell whether the program wants that.  The kernel can: a
 * futex without a time limit is slept on again after a handler with SA_RESTART,
 * and only then.  So a thread made for it waits at the mgr, and the caller's on a
 * futex for that thread:
 *
 *	caller     futex_wait ......... EINTR: LOCK with WIRE_L_CANCEL, until over
 *	waiter     LOCK with WIRE_L_WAIT, again and again ............... over
 *
 * The lock is taken or not as the last answer to the waiter says.
 */
#include "client/lib/locks/lock_ask_int.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/quiet_thread.h"
#include "client/lib/session/strand.h"

#define STACK_SIZE (256u * 1024)
#define CANCEL_FIRST_MS 10u /* until the next CANCEL: one may meet a gap */
#define CANCEL_MOST_MS 1000u

struct waiter {
	atomic_uint refs; /* the caller, the thread */
	_Atomic uint32_t over; /* the futex */
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

static void put(struct waiter *w)
{
	if (atomic_fetch_sub(&w->refs, 1) == 1)
		free(w);
}

/*
 * The mgr lets nobody wait for long; who waits asks again, for as long as the
 * mgr answers.
 */
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
	put(w);
	return NULL;
}

/* False: interrupted, or after ms, if that is not 0. */
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

static void cancel(struct waiter *w, const struct mgr_lock *want)
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

static void interrupt(struct waiter *w, const struct mgr_lock *want)
{
	unsigned int ms = CANCEL_FIRST_MS;

	atomic_store(&w->interrupted, true);
	do {
		deadline_begin();
		cancel(w, want);
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
	/* signals are for the caller */
	rc = quiet_thread(STACK_SIZE, waiter_main, w, NULL);
	if (rc) {
		free(w);
		return -ENOLCK;
	}
	if (!sleep_until_over(w, 0))
		interrupt(w, lock);
	rc = w->rc;
	*lock = w->lock;
	put(w);
	errno = saved;
	return rc;
}

/* Without a thread nobody sleeps. */
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - see lock.h; and waiting for a lock so that a signal can end the wait.
 *
 * A signal handler must end the wait for a lock, unless it was installed with SA_RESTART.  A thread
 * that sleeps for a reply in poll(2) cannot distinguish this, because every handler interrupts
 * poll(2).  But the kernel restarts a futex wait without a timeout exactly if the handler has
 * SA_RESTART.  So a separate thread waits for the manager, and the caller's thread waits on a futex
 * for that thread:
 *
 * 	caller     futex_wait ......... EINTR: LOCK with WIRE_L_CANCEL, until over
 * 	waiter     LOCK with WIRE_L_WAIT, again and again ............... over
 *
 * The last answer to the waiter says whether the lock is taken.
 */
#include "client/lib/locks/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/lib/file/held.h"
#include "client/lib/names/stat.h"
#include "client/lib/session/coroutine.h"
#include "common/util/quiet_thread.h"

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

/*
 * Waits until w is over.  Returns false if a signal interrupted the wait, or ms milliseconds have
 * passed; ms 0: no limit.
 */
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

/* In a coroutine, no thread sleeps and no signal ends the wait. */
static int wait_in_coroutine(struct file *f, struct mgr_lock *lock)
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

/*
 * Takes, releases or tests the lock (WIRE_L_*).  Sets lock->session and, with WIRE_L_TEST, the rest
 * of *lock to the conflicting lock.  Returns 0; -EAGAIN: there is a conflict, and WIRE_L_WAIT is
 * not set; -EINTR: a signal handler without SA_RESTART ran, and the lock was not taken; or another
 * -errno.
 */
static int lock_ask(struct file *f, struct mgr_lock *lock)
{
	struct mgr_lock now = *lock;
	int rc;

	now.flags &= ~WIRE_L_WAIT;
	rc = file_run(f, do_lock, &now);
	if (rc == -EAGAIN && lock->flags & WIRE_L_WAIT)
		return coroutine_self() ? wait_in_coroutine(f, lock)
					: wait_for(f, lock);
	if (!rc)
		*lock = now;
	return rc;
}

static bool of_process(int cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW;
}

static bool is_test(int cmd)
{
	return cmd == F_GETLK || cmd == F_OFD_GETLK;
}

static bool is_wait(int cmd)
{
	return cmd == F_SETLKW || cmd == F_OFD_SETLKW;
}

/* ---- asking the manager ---- */

static int lock_request(struct file *f, struct mgr_lock *lock)
{
	struct mgr_lock want = *lock;
	int rc = lock_ask(f, lock);

	want.session = lock->session;
	if (!rc && !(want.flags & WIRE_L_TEST))
		lock_record(f, &want);
	return rc;
}

/* ---- fcntl ---- */

static int64_t base_of(struct file *f, int whence)
{
	struct stat st;
	int rc;

	switch (whence) {
	case SEEK_SET:
		return 0;
	case SEEK_CUR:
		return file_seek(f, -1, 0, SEEK_CUR);
	case SEEK_END:
		rc = file_run(f, stat_get, &st);
		return rc ? rc : st.st_size;
	}
	return -EINVAL;
}

/* The range from start; a negative length extends backwards. */
static int span_of(int64_t start, int64_t len, struct mgr_lock *lock)
{
	int64_t end = INT64_MAX;

	if (start < 0 || (len < 0 && start + len < 0))
		return -EINVAL;
	if (len > 0 && __builtin_add_overflow(start, len - 1, &end))
		return -EOVERFLOW;
	if (len < 0) {
		end = start;
		start += len;
	} else if (end < INT64_MAX) {
		end++;
	}
	lock->start = mgr_lock_start((uint64_t)start);
	lock->end = (uint64_t)end;
	return 0;
}

/* The bytes that lk covers. */
static int range_of(struct file *f, const struct flock *lk,
		    struct mgr_lock *lock)
{
	int64_t base = base_of(f, lk->l_whence), start;

	if (base < 0)
		return (int)base;
	if (__builtin_add_overflow(base, lk->l_start, &start))
		return -EOVERFLOW;
	return span_of(start, lk->l_len, lock);
}

/* As in the kernel, a lock requires a descriptor that permits the access. */
static int type_of(struct file *f, const struct flock *lk, bool test,
		   uint32_t *type)
{
	int mode = atomic_load(&f->flags) & O_ACCMODE;

	switch (lk->l_type) {
	case F_RDLCK:
		*type = WIRE_L_SHARED;
		return mode == O_WRONLY && !test ? -EBADF : 0;
	case F_WRLCK:
		*type = WIRE_L_EXCLUSIVE;
		return mode == O_RDONLY && !test ? -EBADF : 0;
	case F_UNLCK:
		*type = WIRE_L_UNLOCK;
		return test ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* l_pid is -1, because the owner may be on another host. */
static void flock_from_lock(struct flock *lk, const struct mgr_lock *lock)
{
	if (lock->type == WIRE_L_UNLOCK) {
		lk->l_type = F_UNLCK;
		return;
	}
	lk->l_type = lock->type == WIRE_L_SHARED ? F_RDLCK : F_WRLCK;
	lk->l_whence = SEEK_SET;
	lk->l_start = (int64_t)lock->start;
	lk->l_len = lock->end == INT64_MAX ? 0
					   : (int64_t)(lock->end - lock->start);
	lk->l_pid = -1;
}

int lock_fcntl(struct file *f, int cmd, struct flock *lk)
{
	struct mgr_lock lock = { 0 };
	int rc;

	if (f->type != S_IFREG || (!of_process(cmd) && lk->l_pid))
		return -EINVAL;
	rc = type_of(f, lk, is_test(cmd), &lock.type);
	if (!rc)
		rc = range_of(f, lk, &lock);
	if (rc)
		return rc;
	lock.owner = of_process(cmd) ? 0 : file_owner(f);
	lock.flags = (is_test(cmd) ? WIRE_L_TEST : 0) |
		     (is_wait(cmd) ? WIRE_L_WAIT : 0);
	if (of_process(cmd) && !is_test(cmd))
		atomic_store(&f->process_locks, true);
	rc = lock_request(f, &lock);
	if (!rc && is_test(cmd))
		flock_from_lock(lk, &lock);
	return rc;
}

/* ---- flock ---- */

int lock_flock(struct file *f, int operation)
{
	struct mgr_lock lock = { .end = INT64_MAX, .flags = WIRE_L_WHOLE };
	int rc;

	switch (operation & ~LOCK_NB) {
	case LOCK_SH:
		lock.type = WIRE_L_SHARED;
		break;
	case LOCK_EX:
		lock.type = WIRE_L_EXCLUSIVE;
		break;
	case LOCK_UN:
		lock.type = WIRE_L_UNLOCK;
		break;
	default:
		return -EINVAL;
	}
	lock.owner = file_owner(f);
	if (!(operation & LOCK_NB))
		lock.flags |= WIRE_L_WAIT;
	rc = lock_request(f, &lock);
	return rc == -EAGAIN ? -EWOULDBLOCK : rc;
}

/* ---- close ---- */

void lock_closed(struct file *f)
{
	struct mgr_lock lock = { .end = INT64_MAX };
	struct session *s;

	if (!f->fs || f->type != S_IFREG || !lock_forget(f) ||
	    fs_session(f->fs, &s))
		return;
	mgr_unlock(s, f->handle, &lock);
	session_put(s);
}

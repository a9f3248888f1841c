/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_watch.c - a thread that sleeps until somebody stands still inside of what was
 * taken back; then it looks each millisecond whether he has left, and ends that for him.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/lend/lend_int.h"
#include "common/util/quiet_thread.h"

#define STACK (64u << 10)
#define LOOK_NS 1000000

void lend_watch_kill(struct lends *lends, struct loan *loan)
{
	const struct lend_session *ses = loan->ses;

	loan->killed = true;
	if (!lend_process_maps(&ses->process, ses->files.marks_fd))
		return;
	log_warn(lends->attr.log,
		 "%s: pid %ld stands still in the middle of a write to an "
		 "object that was taken back from it: it is killed, as others "
		 "wait for that",
		 ses->peer, (long)ses->process.pid);
	lend_process_kill(&ses->process);
}

static bool has_left(const struct loan *loan)
{
	const struct lend_session *ses = loan->ses;

	return !lend_inside(&ses->files, loan_index(loan)) ||
	       lend_process_ended(&ses->process) ||
	       (loan->killed &&
		!lend_process_maps(&ses->process, ses->files.marks_fd));
}

/* end: of its session, if that has ended, and this was the last one stuck in it. */
void lend_let_go(struct lends *lends, struct loan *loan, lend_end_fn *end)
{
	struct lend_session *ses = loan->ses;

	TAILQ_REMOVE(&lends->stuck, loan, stuck_link);
	lend_let(lends, loan->handle);
	gate_leave(store_gate(lends->attr.store), &loan->entry);
	loan->stuck = false;
	ses->stuck--;
	if (lend_session_over(ses))
		end(lends, ses);
}

static bool is_overdue(const struct loan *loan)
{
	return !loan->killed && !loan->looks &&
	       clock_now() - loan->since > LEND_STUCK_MS * CLOCK_NS_PER_MS;
}

/*
 * Without the lock, which who serves needs: /proc may let us wait for the memory of
 * that process.  A loan that is stuck stays, as this thread alone lets it go.
 */
static bool look_at(struct lends *lends, struct loan *loan)
{
	bool left;

	pthread_mutex_unlock(&lends->lock);
	left = has_left(loan);
	if (!left && is_overdue(loan))
		lend_watch_kill(lends, loan);
	pthread_mutex_lock(&lends->lock);
	return left;
}

static void has_gone(struct lends *lends, struct loan *loan)
{
	loan_done(loan);
	lend_let_go(lends, loan, lend_session_free);
}

void lend_look_beside(struct lends *lends, uint64_t handle)
{
	struct loan *loan, *next;
	bool left;

	for (loan = TAILQ_FIRST(&lends->stuck); loan; loan = next) {
		left = loan->handle != handle && look_at(lends, loan);
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			has_gone(lends, loan);
	}
}

static void look(struct lends *lends)
{
	struct loan *loan, *next;

	for (loan = TAILQ_FIRST(&lends->stuck); loan; loan = next) {
		bool left = look_at(lends, loan);

		if (!left && loan->looks && lend_aside(lends, loan)) {
			next = TAILQ_FIRST(&lends->stuck);
			continue;
		}
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			has_gone(lends, loan);
	}
}

/* This thread has no other robust mutexes, so libc's list of them is none. */
static void own(struct lends *lends)
{
	_Atomic uint32_t *owner = gate_owner(store_gate(lends->attr.store));
	struct robust_list_head *head = &lends->robust;

	lends->owner.next = &head->list;
	head->list.next = &lends->owner;
	head->futex_offset = (char *)owner - (char *)&lends->owner;
	if (!syscall(SYS_set_robust_list, head, sizeof(*head)))
		atomic_store(owner, (uint32_t)gettid());
	else
		log_error(lends->attr.log,
			  "set_robust_list: %s: clients of this host cannot "
			  "use what they borrow; allow that system call",
			  strerror(errno));
}

/* Until there may be something to do. */
static void wait_for_work(struct lends *lends)
{
	const struct timespec until = clock_timespec(lends->again);

	if (TAILQ_EMPTY(&lends->kept))
		pthread_cond_wait(&lends->changed, &lends->lock);
	else
		pthread_cond_timedwait(&lends->changed, &lends->lock, &until);
}

static bool is_idle(const struct lends *lends)
{
	return TAILQ_EMPTY(&lends->stuck) && TAILQ_EMPTY(&lends->copies) &&
	       (TAILQ_EMPTY(&lends->kept) || clock_now() < lends->again);
}

static void *watch(void *arg)
{
	const struct timespec soon = { .tv_nsec = LOOK_NS };
	struct lends *lends = arg;

	own(lends);
	pthread_mutex_lock(&lends->lock);
	lends->watching = true;
	pthread_cond_signal(&lends->changed);
	while (!lends->stop) {
		if (is_idle(lends)) {
			wait_for_work(lends);
			continue;
		}
		look(lends);
		if (lend_copy_next(lends))
			continue;
		pthread_mutex_unlock(&lends->lock);
		nanosleep(&soon, NULL);
		pthread_mutex_lock(&lends->lock);
	}
	pthread_mutex_unlock(&lends->lock);
	return NULL;
}

int lend_watch_start(struct lends *lends)
{
	int rc = quiet_thread(STACK, watch, lends, &lends->watcher);

	pthread_mutex_lock(&lends->lock);
	while (!rc && !lends->watching)
		pthread_cond_wait(&lends->changed, &lends->lock);
	pthread_mutex_unlock(&lends->lock);
	return rc;
}

void lend_watch_stop(struct lends *lends)
{
	struct loan *loan;

	if (lends->watching) {
		pthread_mutex_lock(&lends->lock);
		lends->stop = true;
		pthread_cond_signal(&lends->changed);
		pthread_mutex_unlock(&lends->lock);
		pthread_join(lends->watcher, NULL);
	}
	while ((loan = TAILQ_FIRST(&lends->stuck)))
		lend_let_go(lends, loan, lend_session_leave);
}

void lend_watch(struct lends *lends, struct loan *loan)
{
	loan->stuck = true;
	loan->killed = false;
	loan->since = clock_now();
	loan->again = 0;
	loan->told = false;
	loan->ses->stuck++;
	lend_hold(lends, loan->handle);
	gate_enter_late(store_gate(lends->attr.store), loan->handle, 1,
			&loan->entry);
	TAILQ_INSERT_TAIL(&lends->stuck, loan, stuck_link);
	pthread_cond_signal(&lends->changed);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_aside.c - objects that somebody does not leave, who will look again, are set aside
 * (lent.h).
 */
#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/lend/lend_int.h"

#define BESIDE_MS 10u

/* A copy that is being made. */
struct copy {
	struct lends *lends;
	uint64_t handle, next; /* others are looked at then, clock_now() */
};

static bool is_time(const struct loan *loan)
{
	uint64_t now = clock_now();

	return now - loan->since >= LEND_ASIDE_MS * CLOCK_NS_PER_MS &&
	       now >= loan->again;
}

/* Of a large object it takes long, and who has left another one keeps that shut no longer. */
static bool go_on(void *arg)
{
	struct copy *c = arg;

	if (clock_now() >= c->next) {
		pthread_mutex_lock(&c->lends->lock);
		lend_look_beside(c->lends, c->handle);
		pthread_mutex_unlock(&c->lends->lock);
		c->next = clock_after_ms(BESIDE_MS);
	}
	return !atomic_load(&c->lends->stop);
}

static void let_all_go(struct lends *lends, uint64_t handle)
{
	struct loan *loan, *next;

	for (loan = TAILQ_FIRST(&lends->stuck); loan; loan = next) {
		next = TAILQ_NEXT(loan, stuck_link);
		if (loan->handle != handle)
			continue;
		loan_done(loan);
		lend_let_go(lends, loan, lend_session_free);
	}
}

/* Who serves needs the lock. */
static int set_aside(struct lends *lends, uint64_t handle)
{
	struct copy copy = { lends, handle, clock_after_ms(BESIDE_MS) };
	const struct store_beside beside = { go_on, &copy };
	int rc;

	if (!lend_recall(lends, handle))
		return -EAGAIN;
	pthread_mutex_unlock(&lends->lock);
	rc = store_set_aside(lends->attr.store, handle, &beside);
	pthread_mutex_lock(&lends->lock);
	return rc;
}

static void say_done(const struct lends *lends, const struct loan *loan)
{
	log_info(lends->attr.log,
		 "%s: pid %ld did not leave the middle of a write to object "
		 "%016llx: the object was set aside by a copy, and what the "
		 "process writes to the old one is nobody's; nothing needs "
		 "doing",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 (unsigned long long)loan->handle);
}

static void say_failed(const struct lends *lends, struct loan *loan, int rc)
{
	if (loan->told)
		return;
	loan->told = true;
	log_warn(lends->attr.log,
		 "%s: pid %ld does not leave the middle of a write to object "
		 "%016llx, which cannot be set aside by a copy: %s; who uses "
		 "the object waits until it can: free some space, or end the "
		 "process",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 (unsigned long long)loan->handle, strerror(-rc));
}

/* One that runs is not ended: it may have left by a jump. */
static void end_stopped(struct lends *lends, struct loan *loan)
{
	const struct lend_process *p = &loan->ses->process;

	if (loan->killed ||
	    clock_now() - loan->since < LEND_STUCK_MS * CLOCK_NS_PER_MS)
		return;
	pthread_mutex_unlock(&lends->lock);
	if (lend_process_stopped(p) && lend_process_ours(p))
		lend_watch_kill(lends, loan);
	pthread_mutex_lock(&lends->lock);
}

int lend_set_aside(struct lends *lends, uint64_t handle)
{
	int rc = set_aside(lends, handle);

	if (!rc)
		let_all_go(lends, handle);
	return rc;
}

bool lend_aside(struct lends *lends, struct loan *loan)
{
	int rc;

	if (!is_time(loan))
		return false;
	rc = set_aside(lends, loan->handle);
	if (!rc) {
		say_done(lends, loan);
		let_all_go(lends, loan->handle);
		return true;
	}
	loan->again = clock_after_ms(rc == -EAGAIN ? 1 : LEND_AGAIN_MS);
	if (rc != -EAGAIN && rc != -ECANCELED) {
		say_failed(lends, loan, rc);
		end_stopped(lends, loan);
	}
	return false;
}

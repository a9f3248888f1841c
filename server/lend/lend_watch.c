/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_watch.c - a thread that sleeps until somebody stands still inside of what was
 * taken back; then it looks each millisecond whether he has left.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "container.h"
#include "lend_int.h"
#include "quiet_thread.h"

#define STACK (64u << 10)
#define LOOK_NS 1000000

static void kill_it(struct lends *lends, struct lend_stuck *s)
{
	const struct lend_session *ses = s->ses;

	s->killed = true;
	if (!lend_process_maps(&ses->process, ses->files.marks_fd))
		return;
	log_warn(lends->attr.log,
		 "%s: pid %ld stands still in the middle of a write to an "
		 "object that was taken back from it: it is killed, as others "
		 "wait for that",
		 ses->peer, (long)ses->process.pid);
	lend_process_kill(&ses->process);
}

static uint32_t index_of(const struct lend_stuck *s)
{
	return (uint32_t)(container_of(s, const struct loan, stuck) -
			  s->ses->loan);
}

static bool has_left(const struct lend_stuck *s)
{
	const struct lend_session *ses = s->ses;

	return !lend_inside(&ses->files, index_of(s)) ||
	       lend_process_ended(&ses->process) ||
	       (s->killed &&
		!lend_process_maps(&ses->process, ses->files.marks_fd));
}

static void let_go(struct lends *lends, struct lend_stuck *s)
{
	struct lend_session *ses = s->ses;

	TAILQ_REMOVE(&lends->stuck, s, link);
	gate_leave(store_gate(lends->attr.store), &s->entry);
	s->ses = NULL;
	ses->stuck--;
	if (ses->ended && !ses->stuck)
		lend_session_free(lends, ses);
}

static void look(struct lends *lends)
{
	uint64_t now = clock_now();
	struct lend_stuck *s, *next;

	for (s = TAILQ_FIRST(&lends->stuck); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (has_left(s))
			let_go(lends, s);
		else if (!s->killed &&
			 now - s->since > LEND_STUCK_MS * CLOCK_NS_PER_MS)
			kill_it(lends, s);
	}
}

static void *watch(void *arg)
{
	const struct timespec soon = { .tv_nsec = LOOK_NS };
	struct lends *lends = arg;

	pthread_mutex_lock(&lends->lock);
	while (!lends->stop) {
		if (TAILQ_EMPTY(&lends->stuck)) {
			pthread_cond_wait(&lends->changed, &lends->lock);
			continue;
		}
		look(lends);
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

	lends->watching = !rc;
	return rc;
}

void lend_watch_stop(struct lends *lends)
{
	struct lend_stuck *s;

	if (lends->watching) {
		pthread_mutex_lock(&lends->lock);
		lends->stop = true;
		pthread_cond_signal(&lends->changed);
		pthread_mutex_unlock(&lends->lock);
		pthread_join(lends->watcher, NULL);
	}
	while ((s = TAILQ_FIRST(&lends->stuck))) {
		TAILQ_REMOVE(&lends->stuck, s, link);
		gate_leave(store_gate(lends->attr.store), &s->entry);
	}
}

void lend_watch(struct lends *lends, struct lend_session *ses, uint32_t index)
{
	struct loan *loan = &ses->loan[index];
	struct lend_stuck *s = &loan->stuck;

	s->ses = ses;
	s->since = clock_now();
	s->killed = false;
	ses->stuck++;
	gate_enter_late(store_gate(lends->attr.store), loan->handle, 1,
			&s->entry);
	TAILQ_INSERT_TAIL(&lends->stuck, s, link);
	pthread_cond_signal(&lends->changed);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.c - waiting for calls, and driving them meanwhile. */
#include <errno.h>

#include "client/lib/aio/aio_int.h"

/* The state that a waiter waits for: sum or moves has changed. */
struct enough {
	struct aio_queue *q;
	unsigned int sum, moves;
};

static bool wait_is_over(void *arg)
{
	const struct enough *e = arg;

	return (int)(atomic_load(&e->q->sum) - e->sum) >= 0 ||
	       atomic_load(&e->q->moves) != e->moves;
}

/* The caller holds the lock, which is released meanwhile.  Drives one session until then. */
static void session_attend(struct aio_queue *q, struct session *s,
			   struct enough *e, uint64_t until)
{
	q->attended = s;
	pthread_mutex_unlock(&q->lock);
	drive_attend(&s->drive, wait_is_over, e, until);
	pthread_mutex_lock(&q->lock);
	q->attended = NULL;
	pthread_mutex_unlock(&q->lock);
	session_put(s);
	pthread_mutex_lock(&q->lock);
}

/* As above: drives or sleeps until more calls have ended, or another place is in use. */
static void wait_once(struct aio_queue *q, unsigned int more, uint64_t until)
{
	struct enough e = { q, atomic_load(&q->sum) + more,
			    atomic_load(&q->moves) };
	struct session *s = q->polled ? NULL : aio_place_only(q);

	if (s) {
		session_attend(q, s, &e, until);
		return;
	}
	aio_rest(q);
	if (!wait_is_over(&e) && clock_now() < until)
		aio_sleep(q, until);
}

/* The calls that a thread in aio_queue_wait() has reaped. */
struct reaped {
	struct aio_calls *out;
	unsigned int max, n;
	unsigned int before; /* ncalled at the start */
};

static unsigned int calls_reported(const struct aio_queue *q,
				   const struct reaped *r)
{
	return q->ncalled - r->before;
}

/* The caller holds the lock, which is released for done(). */
static void calls_reap(struct aio_queue *q, struct reaped *r)
{
	struct aio_call *call;

	aio_call_done(q);
	while (r->n < r->max && (call = STAILQ_FIRST(&q->ended))) {
		STAILQ_REMOVE_HEAD(&q->ended, link);
		q->nended--;
		STAILQ_INSERT_TAIL(r->out, call, link);
		r->n++;
	}
}

static void wait_for(struct aio_queue *q, struct reaped *r, unsigned int min,
		     uint64_t until)
{
	unsigned int have, looks = 0;

	for (;; looks++) {
		calls_reap(q, r);
		have = r->n + calls_reported(q, r) + q->nended;
		if (looks && (have >= min || clock_now() >= until))
			return;
		if (!q->nworking && !q->nwaiting) {
			if (q->polled)
				aio_rest(q);
			return;
		}
		if (have < min)
			wait_once(q, min - have, until);
		else
			wait_once(q, 1, 0);
	}
}

/* The caller holds the lock.  True: no other thread waits. */
static bool my_turn(struct aio_queue *q, uint64_t until)
{
	struct timespec ts = clock_timespec(until);
	int rc = 0;

	while (q->waited && !rc)
		rc = pthread_cond_clockwait(&q->turn, &q->lock, CLOCK_MONOTONIC,
					    &ts);
	return !q->waited;
}

int aio_queue_wait(struct aio_queue *q, struct aio_calls *out, unsigned int max,
		   unsigned int min, uint64_t until)
{
	struct reaped r = { .out = out, .max = max };
	int cancel;
	bool mine;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&q->lock);
	mine = my_turn(q, until);
	if (mine) {
		q->waited = true;
		q->waiter = pthread_self();
		r.before = q->ncalled;
		wait_for(q, &r, min, until);
		q->waited = false;
		if (q->nended || !STAILQ_EMPTY(&q->to_call))
			aio_tell(q);
		pthread_cond_broadcast(&q->turn);
	}
	pthread_mutex_unlock(&q->lock);
	pthread_setcancelstate(cancel, NULL);
	return mine ? (int)r.n : -EAGAIN;
}

int aio_queue_fd(struct aio_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->polled = true;
	aio_tell(q);
	pthread_mutex_unlock(&q->lock);
	return q->set;
}

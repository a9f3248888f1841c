/* SPDX-License-Identifier: BSD-2-Clause */
/* aio_queue.c - starts calls, waits for them, and reports their ends. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client/lib/aio/aio_int.h"

/* ---- a call ends ---- */

/*
 * Calls done() of the calls that have ended, one at a time.  If another thread is doing this,
 * leaves them to it.  The caller holds the lock, which is released during each done().
 */
static void aio_call_done(struct aio_queue *q)
{
	struct aio_call *call;

	if (q->calling)
		return;
	q->calling = true;
	while ((call = STAILQ_FIRST(&q->to_call))) {
		STAILQ_REMOVE_HEAD(&q->to_call, link);
		pthread_mutex_unlock(&q->lock);
		call->done(call);
		pthread_mutex_lock(&q->lock);
		q->ncalled++;
		atomic_fetch_add(&q->moves, 1);
		aio_tell(q);
	}
	q->calling = false;
	pthread_cond_broadcast(&q->turn);
}

/* The caller holds the lock. */
static void aio_call_end(struct aio_queue *q, struct aio_call *call,
			 int64_t result)
{
	call->result = result;
	if (call->done) {
		STAILQ_INSERT_TAIL(&q->to_call, call, link);
	} else {
		STAILQ_INSERT_TAIL(&q->ended, call, link);
		q->nended++;
	}
	atomic_fetch_add(&q->sum, 1);
	aio_tell(q);
}

/* ---- a call's turn comes ---- */

static void worker_run(void *arg)
{
	struct aio_worker *w = arg;

	w->call->result = w->call->run(w->call);
}

/* The caller holds the lock; at least one call is waiting. */
static void worker_take_call(struct aio_queue *q, struct aio_worker *w)
{
	struct aio_call *call = STAILQ_FIRST(&q->waiting);
	uint64_t began = call->since;

	STAILQ_REMOVE_HEAD(&q->waiting, link);
	q->nwaiting--;
	call->waits = false;
	w->call = call;
	if (q->progressed > began)
		began = q->progressed;
	coroutine_begin(&w->coroutine, worker_run, w, began);
}

static bool worker_ended(struct coroutine *coroutine)
{
	struct aio_worker *w = container_of(coroutine, struct aio_worker,
					    coroutine);
	struct aio_queue *q = w->queue;
	bool more;

	pthread_mutex_lock(&q->lock);
	q->progressed = clock_now();
	aio_call_end(q, w->call, w->call->result);
	more = q->nwaiting;
	if (more)
		worker_take_call(q, w);
	else
		SLIST_INSERT_HEAD(&q->idle, w, link);
	if (q->tended)
		aio_call_done(q);
	if (!more)
		q->nworking--;
	pthread_cond_broadcast(&q->turn);
	pthread_mutex_unlock(&q->lock);
	return more;
}

static void worker_posted(struct coroutine *coroutine, struct drive *drive)
{
	struct aio_worker *w = container_of(coroutine, struct aio_worker,
					    coroutine);

	pthread_mutex_lock(&w->queue->lock);
	w->placed = aio_place_posted(w->queue, session_driven(drive));
	pthread_mutex_unlock(&w->queue->lock);
}

static void worker_answered(struct coroutine *coroutine, struct drive *drive)
{
	struct aio_worker *w = container_of(coroutine, struct aio_worker,
					    coroutine);

	pthread_mutex_lock(&w->queue->lock);
	if (w->placed)
		aio_place_answered(w->queue, session_driven(drive));
	pthread_mutex_unlock(&w->queue->lock);
}

static struct aio_worker *worker_new(struct aio_queue *q)
{
	struct aio_worker *w = calloc(1, sizeof(*w));

	if (!w || coroutine_init(&w->coroutine)) {
		free(w);
		return NULL;
	}
	w->queue = q;
	w->coroutine.ended = worker_ended;
	w->coroutine.posted = worker_posted;
	w->coroutine.answered = worker_answered;
	w->coroutine.tended = q->tended;
	SLIST_INSERT_HEAD(&q->workers, w, all);
	return w;
}

/* The caller holds the lock.  Returns an idle worker or a new one; NULL: no memory. */
static struct aio_worker *worker_get(struct aio_queue *q)
{
	struct aio_worker *w = SLIST_FIRST(&q->idle);

	if (!w)
		return worker_new(q);
	SLIST_REMOVE_HEAD(&q->idle, link);
	return w;
}

/* No worker is left that would take these calls later. */
static void refuse_all(struct aio_queue *q, int why)
{
	struct aio_call *call;

	while ((call = STAILQ_FIRST(&q->waiting))) {
		STAILQ_REMOVE_HEAD(&q->waiting, link);
		q->nwaiting--;
		call->waits = false;
		aio_call_end(q, call, why);
	}
}

void aio_queue_add(struct aio_queue *q, struct aio_call *call)
{
	call->since = clock_now();
	call->waits = true;
	pthread_mutex_lock(&q->lock);
	STAILQ_INSERT_TAIL(&q->waiting, call, link);
	q->nwaiting++;
	pthread_mutex_unlock(&q->lock);
}

void aio_queue_start(struct aio_queue *q)
{
	struct drive *batch = NULL;
	struct aio_worker *w;
	int cancel;

	/* a coroutine may run calls of other threads: do not let cancellation end them */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&q->lock);
	while (q->nwaiting && q->nworking < PVFS_AIO_DEPTH) {
		w = worker_get(q);
		if (!w)
			break;
		worker_take_call(q, w);
		q->nworking++;
		pthread_mutex_unlock(&q->lock);
		coroutine_resume(&w->coroutine, NULL, &batch);
		pthread_mutex_lock(&q->lock);
	}
	if (q->nwaiting && !q->nworking)
		refuse_all(q, -ENOMEM);
	pthread_mutex_unlock(&q->lock);
	drive_kick_put(batch);
	pthread_setcancelstate(cancel, NULL);
}

int aio_queue_cancel(struct aio_queue *q, struct aio_call *call)
{
	int rc = -EALREADY;

	pthread_mutex_lock(&q->lock);
	if (call->waits) {
		STAILQ_REMOVE(&q->waiting, call, aio_call, link);
		q->nwaiting--;
		call->waits = false;
		aio_call_end(q, call, -ECANCELED);
		rc = 0;
	}
	if (!rc && q->tended)
		aio_call_done(q);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

/* ---- creation and release ---- */

static int add_to_set(struct aio_queue *q, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(q->set, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int open_all(struct aio_queue *q)
{
	int rc;

	q->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	q->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	q->set = epoll_create1(EPOLL_CLOEXEC);
	if (q->event < 0 || q->timer < 0 || q->set < 0)
		return -errno;
	rc = add_to_set(q, q->event);
	return rc ? rc : add_to_set(q, q->timer);
}

static void close_all(const struct aio_queue *q)
{
	if (q->set >= 0)
		close(q->set);
	if (q->timer >= 0)
		close(q->timer);
	if (q->event >= 0)
		close(q->event);
}

int aio_queue_new(bool tended, struct aio_queue **out)
{
	struct aio_queue *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return -ENOMEM;
	q->tended = tended;
	STAILQ_INIT(&q->waiting);
	STAILQ_INIT(&q->ended);
	STAILQ_INIT(&q->to_call);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->turn, NULL);
	rc = open_all(q);
	if (rc)
		aio_queue_abandon(q);
	else
		*out = q;
	return rc;
}

static bool left_over(struct aio_queue *q)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->nworking || q->nended || q->calling ||
	     !STAILQ_EMPTY(&q->to_call);
	pthread_mutex_unlock(&q->lock);
	return is;
}

void aio_queue_abandon(struct aio_queue *q)
{
	struct aio_worker *w;

	while ((w = SLIST_FIRST(&q->workers))) {
		SLIST_REMOVE_HEAD(&q->workers, all);
		coroutine_fini(&w->coroutine);
		free(w);
	}
	close_all(q);
	free(q);
}

void aio_queue_free(struct aio_queue *q, struct aio_calls *ended)
{
	pthread_mutex_lock(&q->lock);
	refuse_all(q, -ECANCELED);
	pthread_mutex_unlock(&q->lock);
	while (left_over(q))
		aio_queue_wait(q, ended, 1, 1, CLOCK_NEVER);
	pthread_cond_destroy(&q->turn);
	pthread_mutex_destroy(&q->lock);
	aio_queue_abandon(q);
}

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

/*
 * Called with the lock, which is released while waiting.  Drives or sleeps until `more` calls have
 * ended, or another session may have to be driven.
 */
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

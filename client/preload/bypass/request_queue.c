/* SPDX-License-Identifier: BSD-2-Clause */
/* request_queue.c - see request_queue.h. */
#include "client/preload/bypass/request_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "client/preload/own_call.h"
#include "common/util/clock.h"

#define DRAIN_MS 1000 /* ms between checks whether requests are in flight */

struct request_queue {
	struct aio_queue *queue;
	pthread_mutex_t
		lock; /* protects all below, and the private part of requests */
	LIST_HEAD(, queued_request) in_flight; /* the newest first */
	uint64_t started; /* number of requests so far */
	unsigned int waiting; /* requests that wait for others: usually none */
};

struct request_queue *request_queue_new(void)
{
	struct request_queue *q = calloc(1, sizeof(*q));

	if (!q || aio_queue_new(true, &q->queue)) {
		free(q);
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	LIST_INIT(&q->in_flight);
	return q;
}

/* All calls have done(), so the list stays empty. */
void request_queue_free(struct request_queue *q)
{
	struct aio_calls none = STAILQ_HEAD_INITIALIZER(none);

	if (!q)
		return;
	aio_queue_free(q->queue, &none);
	free(q);
}

void request_queue_abandon(struct request_queue *q)
{
	if (!q)
		return;
	aio_queue_abandon(q->queue);
	free(q);
}

static void lock_queue(struct request_queue *q)
{
	own_call_enter();
	pthread_mutex_lock(&q->lock);
}

static void unlock_queue(struct request_queue *q)
{
	pthread_mutex_unlock(&q->lock);
	own_call_leave();
}

/* ---- start and end of a request ---- */

/* Called with the lock. */
static unsigned int count_requests(const struct request_queue *q, int fd)
{
	const struct queued_request *r;
	unsigned int n = 0;

	LIST_FOREACH(r, &q->in_flight, link)
		n += r->fd == fd;
	return n;
}

bool request_queue_add(struct request_queue *q, struct queued_request *r,
		       bool after_earlier)
{
	bool start;

	lock_queue(q);
	r->queue = q;
	r->number = ++q->started;
	r->waits_for = after_earlier ? count_requests(q, r->fd) : 0;
	start = !r->waits_for;
	q->waiting += !start;
	LIST_INSERT_HEAD(&q->in_flight, r, link);
	unlock_queue(q);
	return start;
}

void request_start(struct queued_request *r)
{
	struct aio_queue *queue = r->queue->queue;

	aio_queue_add(queue, &r->call);
	aio_queue_start(queue);
}

/*
 * Called with the lock.  Returns a request that waited only for r, or NULL.  Requests
 * older than r do not wait for it.
 */
static struct queued_request *next_request(struct request_queue *q,
					   const struct queued_request *r)
{
	struct queued_request *later;

	if (!q->waiting)
		return NULL;
	LIST_FOREACH(later, &q->in_flight, link)
		if (later->number > r->number && later->waits_for &&
		    later->fd == r->fd && !--later->waits_for) {
			q->waiting--;
			return later;
		}
	return NULL;
}

struct queued_request *request_queue_remove(struct queued_request *r)
{
	struct queued_request *next;

	lock_queue(r->queue);
	LIST_REMOVE(r, link);
	next = next_request(r->queue, r);
	unlock_queue(r->queue);
	return next;
}

/* Ends the use by its owner or, if that has ended, by a thread that cancels it. */
static void drop_request(struct queued_request *r, bool owner)
{
	struct request_queue *q = r->queue;
	bool last;

	lock_queue(q);
	if (owner)
		r->ended = true;
	else
		r->holders--;
	last = r->ended && !r->holders;
	unlock_queue(q);
	if (last)
		free(r);
}

void request_put(struct queued_request *r)
{
	drop_request(r, true);
}

/* ---- queries and waiting ---- */

bool request_queue_has(struct request_queue *q, const struct aiocb *cb)
{
	struct queued_request *r;

	if (!q)
		return false;
	lock_queue(q);
	LIST_FOREACH(r, &q->in_flight, link)
		if (r->cb == cb)
			break;
	unlock_queue(q);
	return r;
}

bool request_queue_is_empty(struct request_queue *q)
{
	bool empty;

	if (!q)
		return true;
	lock_queue(q);
	empty = LIST_EMPTY(&q->in_flight);
	unlock_queue(q);
	return empty;
}

bool request_queue_wait(struct request_queue *q, uint64_t until)
{
	struct aio_calls none = STAILQ_HEAD_INITIALIZER(none);
	int saved = errno;
	bool interrupted;

	if (!q)
		return true;
	own_call_enter();
	aio_queue_wait(q->queue, &none, 0, 1, until);
	interrupted = own_call_held;
	errno = saved;
	own_call_leave();
	return interrupted;
}

void request_queue_drain(struct request_queue *q)
{
	while (!request_queue_is_empty(q))
		request_queue_wait(q, clock_after_ms(DRAIN_MS));
}

bool request_queue_has_fd(struct request_queue *q, int fd)
{
	bool has;

	if (!q)
		return false;
	lock_queue(q);
	has = count_requests(q, fd);
	unlock_queue(q);
	return has;
}

/* ---- cancelling ---- */

/* cb NULL: any request of fd. */
static bool request_matches(const struct queued_request *r, int fd,
			    const struct aiocb *cb)
{
	return cb ? r->cb == cb : r->fd == fd;
}

/*
 * Collects the requests that match, with holders incremented: *n of them, in memory for
 * free().  NULL: none, or no memory.
 */
static struct queued_request **hold_requests(struct request_queue *q, int fd,
					     const struct aiocb *cb, size_t *n)
{
	struct queued_request *r, **found;

	*n = 0;
	lock_queue(q);
	LIST_FOREACH(r, &q->in_flight, link)
		*n += request_matches(r, fd, cb);
	found = *n ? calloc(*n, sizeof(struct queued_request *)) : NULL;
	*n = 0;
	LIST_FOREACH(r, &q->in_flight, link) {
		if (!found || !request_matches(r, fd, cb))
			continue;
		r->holders++;
		found[(*n)++] = r;
	}
	unlock_queue(q);
	return found;
}

int request_queue_cancel(struct request_queue *q, int fd,
			 const struct aiocb *cb)
{
	struct queued_request **found = NULL;
	int result = AIO_ALLDONE;
	size_t n = 0, i;

	own_call_enter();
	if (q)
		found = hold_requests(q, fd, cb, &n);
	for (i = 0; i < n; i++) {
		if (found[i]->fd != fd)
			result = -1;
		else if (aio_queue_cancel(q->queue, &found[i]->call))
			result = AIO_NOTCANCELED;
		else if (result == AIO_ALLDONE)
			result = AIO_CANCELED;
		drop_request(found[i], false);
	}
	free(found);
	own_call_leave();
	return result;
}

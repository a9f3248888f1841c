/* SPDX-License-Identifier: BSD-2-Clause */
/* aio_place.c - the sessions at which a queue has calls, and sleeping on all of them. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "client/lib/aio/aio_int.h"

/* ---- counting ---- */

static struct aio_place *session_place_find(struct aio_queue *q, uint64_t id)
{
	struct aio_place *p = q->place, *end = p + AIO_PLACES;

	while (p < end && p->id != id)
		p++;
	return p < end ? p : NULL;
}

static bool place_has_fd(const struct aio_place *p, int fd)
{
	unsigned int i;

	for (i = 0; i < p->nfd; i++)
		if (p->fd[i].fd == fd)
			return true;
	return false;
}

/*
 * The kernel removes closed descriptors from the set by itself, and another place may
 * already have descriptors with the same numbers.
 */
static bool is_of_another(struct aio_queue *q, const struct aio_place *p,
			  int fd)
{
	unsigned int i;

	for (i = 0; i < AIO_PLACES; i++)
		if (&q->place[i] != p && place_has_fd(&q->place[i], fd))
			return true;
	return false;
}

static void leave_set(struct aio_queue *q, struct aio_place *p)
{
	unsigned int i;

	for (i = 0; i < p->nfd; i++)
		if (!is_of_another(q, p, p->fd[i].fd))
			epoll_ctl(q->set, EPOLL_CTL_DEL, p->fd[i].fd, NULL);
	p->nfd = 0;
}

static struct aio_place *place_unused(struct aio_queue *q)
{
	struct aio_place *p = q->place, *end = p + AIO_PLACES;

	while (p < end && p->n)
		p++;
	if (p == end)
		return NULL;
	leave_set(q, p);
	return p;
}

bool aio_place_posted(struct aio_queue *q, struct session *s)
{
	struct aio_place *p = session_place_find(q, s->id);

	if (!p)
		p = place_unused(q);
	if (!p)
		return false;
	p->id = s->id;
	p->s = s;
	if (!p->n++) {
		atomic_fetch_add(&q->moves, 1);
		aio_tell(q);
	}
	return true;
}

void aio_place_answered(struct aio_queue *q, struct session *s)
{
	struct aio_place *p = session_place_find(q, s->id);

	if (--p->n)
		return;
	drive_overlook(&s->drive, &p->onlooker);
	p->s = NULL;
	atomic_fetch_add(&q->moves, 1);
}

struct session *aio_place_only(struct aio_queue *q)
{
	struct session *only = NULL;
	unsigned int i, n = 0;

	for (i = 0; i < AIO_PLACES; i++) {
		if (!q->place[i].n)
			continue;
		n++;
		only = q->place[i].s;
	}
	return n == 1 ? session_get(only) : NULL;
}

/* ---- waking ---- */

static void event_write(struct aio_queue *q)
{
	if (q->event_set)
		return;
	q->event_set = true;
	eventfd_write(q->event, 1);
}

void aio_tell(struct aio_queue *q)
{
	if (!q->waited) {
		if (q->polled)
			event_write(q);
		return;
	}
	if (pthread_equal(q->waiter, pthread_self()))
		return;
	if (q->attended)
		drive_notice(&q->attended->drive);
	else
		event_write(q);
}

/* ---- sleeping ---- */

/* The descriptors of a session rarely change. */
static void join_set(struct aio_queue *q, struct aio_place *p,
		     const struct pollfd *fd, unsigned int n)
{
	struct epoll_event ev;
	unsigned int i;

	if (n == p->nfd && !memcmp(fd, p->fd, n * sizeof(*fd)))
		return;
	leave_set(q, p);
	for (i = 0; i < n; i++) {
		ev = (struct epoll_event){ .events = (uint32_t)fd[i].events };
		epoll_ctl(q->set, EPOLL_CTL_ADD, fd[i].fd, &ev);
		p->fd[i] = fd[i];
	}
	p->nfd = n;
}

/* The caller holds the lock, which is released meanwhile.  False: call again. */
static bool rest_at(struct aio_queue *q, struct aio_place *p, uint64_t *until)
{
	struct session *s = session_get(p->s);
	struct pollfd fd[RPC_CTX_FDS] = { 0 };
	unsigned int n;
	bool settled;

	p->onlooker.event = q->event;
	pthread_mutex_unlock(&q->lock);
	settled = drive_rest(&s->drive, &p->onlooker, fd, &n, until);
	pthread_mutex_lock(&q->lock);
	if (p->s != s)
		drive_overlook(&s->drive, &p->onlooker);
	else if (n)
		join_set(q, p, fd, n);
	pthread_mutex_unlock(&q->lock);
	session_put(s);
	pthread_mutex_lock(&q->lock);
	return settled;
}

static void set_timer(struct aio_queue *q, uint64_t until)
{
	struct itimerspec at = { 0 };

	if (until != CLOCK_NEVER)
		at.it_value = clock_timespec(until);
	timerfd_settime(q->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* An event between this read and driving may cause a needless wakeup, but is not lost. */
static void event_clear(struct aio_queue *q)
{
	eventfd_t count;

	eventfd_read(q->event, &count);
	q->event_set = false;
}

void aio_rest(struct aio_queue *q)
{
	uint64_t until, first = CLOCK_NEVER;
	bool settled = true;
	unsigned int i;

	event_clear(q);
	for (i = 0; i < AIO_PLACES; i++) {
		if (!q->place[i].n) {
			leave_set(q, &q->place[i]);
			continue;
		}
		settled = rest_at(q, &q->place[i], &until) && settled;
		first = until < first ? until : first;
	}
	set_timer(q, first);
	if (!settled)
		event_write(q);
}

void aio_sleep(struct aio_queue *q, uint64_t until)
{
	struct epoll_event ev;

	pthread_mutex_unlock(&q->lock);
	epoll_wait(q->set, &ev, 1, clock_left_ms(until));
	pthread_mutex_lock(&q->lock);
}

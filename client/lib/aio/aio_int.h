/* SPDX-License-Identifier: BSD-2-Clause */
/* aio_int.h - shared by the files that implement aio_queue.h. */
#ifndef AIO_INT_H
#define AIO_INT_H

#include "client/lib/aio/aio_queue.h"
#include "client/lib/api.h"
#include "client/lib/session/client_session.h"
#include "client/lib/session/coroutine.h"

/* Sessions that a queue tracks at a time.  If its calls use more, the keepers drive the rest. */
#define AIO_PLACES 16u

/* A session at which calls of the queue are, or were. */
struct aio_place {
	uint64_t id; /* id of the session, 0: place never used */
	struct session *s; /* valid while n is not 0 */
	unsigned int n; /* calls at the session */
	struct onlooker onlooker;
	/* nfd descriptors that are in the epoll set */
	struct pollfd fd[RPC_CTX_FDS];
	unsigned int nfd;
};

/* A coroutine of the queue and the call that it runs. */
struct aio_worker {
	struct coroutine coroutine;
	struct aio_queue *queue;
	struct aio_call *call;
	bool placed; /* its operation is counted at a place */
	/* link is used while the worker is idle */
	SLIST_ENTRY(aio_worker) all, link;
};

struct aio_queue {
	bool tended;
	int event, timer, set; /* eventfd, timerfd, epoll */

	pthread_mutex_t lock; /* protects all below; taken before drive.lock */
	struct aio_calls waiting, ended, to_call;
	unsigned int nwaiting, nworking, nended;
	unsigned int ncalled; /* done() calls so far */
	atomic_uint sum; /* calls that ended so far */
	SLIST_HEAD(, aio_worker) workers, idle;
	uint64_t progressed; /* time at which a call last ended */
	bool calling; /* a thread calls done() */
	struct aio_place place[AIO_PLACES];
	/* incremented when a place becomes used or unused, and when done() returns */
	atomic_uint moves;
	bool polled; /* aio_queue_fd() has given the set to the owner */
	bool event_set; /* event is readable */

	bool waited; /* a thread is in aio_queue_wait() */
	pthread_t waiter;
	/* signalled when waited or calling becomes false */
	pthread_cond_t turn;
	/* session that the waiter drives, or waits to drive */
	struct session *attended;
};

/* ---- aio_place.c: the caller holds the lock, except for aio_rest() ---- */

/* Counts a call that waits at s.  Returns false if s has no place and all places are in use. */
bool aio_place_posted(struct aio_queue *q, struct session *s);
void aio_place_answered(struct aio_queue *q, struct session *s);
/* If all calls in flight wait at one session, returns it with a reference, otherwise NULL. */
struct session *aio_place_only(struct aio_queue *q);
/* Wakes the thread in aio_queue_wait(), and pollers, to check again. */
void aio_tell(struct aio_queue *q);
/*
 * Drives the sessions of all places until they have nothing to do.  Afterwards the epoll set
 * becomes readable when there is new work.
 */
void aio_rest(struct aio_queue *q);
/* Sleeps until the epoll set is readable, at most until the clock_now() `until`. */
void aio_sleep(struct aio_queue *q, uint64_t until);

#endif

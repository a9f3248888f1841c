/* SPDX-License-Identifier: BSD-2-Clause */
/* aio_int.h - what the files of aio_queue.h share. */
#ifndef AIO_INT_H
#define AIO_INT_H

#include "client/lib/aio/aio_queue.h"
#include "client/lib/api.h"
#include "client/lib/session/session.h"
#include "client/lib/session/strand.h"

/* Sessions that a queue has calls at, at a time; beyond that the keepers of their
 * sessions move them on. */
#define AIO_PLACES 16u

/* A session that calls are at, or were.  */
struct aio_place {
	uint64_t id; /* of the session, 0: none yet */
	struct session *s; /* while n is not 0 */
	unsigned int n; /* calls */
	struct onlooker onlooker;
	struct pollfd fd[RPC_CTX_FDS]; /* in the set, nfd */
	unsigned int nfd;
};

/* A strand of the queue, and what it does. */
struct aio_worker {
	struct strand strand;
	struct aio_queue *queue;
	struct aio_call *call;
	bool placed; /* its operation counts at a place */
	SLIST_ENTRY(aio_worker) all, link; /* idle */
};

struct aio_queue {
	bool tended;
	int event, timer, set; /* eventfd, timerfd, epoll */

	pthread_mutex_t lock; /* all below; before drive.lock */
	struct aio_calls waiting, ended, to_call;
	unsigned int nwaiting, nworking, nended;
	unsigned int ncalled; /* done(), ever */
	atomic_uint sum; /* that ended, ever */
	SLIST_HEAD(, aio_worker) workers, idle;
	uint64_t progressed; /* when a call last ended */
	bool calling; /* a thread calls done() */
	struct aio_place place[AIO_PLACES];
	/* a place began or ceased to be one; done() returned */
	atomic_uint moves;
	bool polled; /* somebody knows the set */
	bool told; /* event is readable */

	bool waited; /* a thread is in aio_queue_wait() */
	pthread_t waiter;
	pthread_cond_t turn; /* it is not any more */
	struct session *attended; /* it drives there, or waits to */
};

/* With the lock, which it releases meanwhile: done() of what has ended. */
void aio_call_done(struct aio_queue *q);

/* ---- place.c: with the lock, but for aio_rest() ---- */

/* False: there is no place. */
bool aio_place_posted(struct aio_queue *q, struct session *s);
void aio_place_answered(struct aio_queue *q, struct session *s);
/* The session, if all that is under way is at one, with a reference; or NULL. */
struct session *aio_place_only(struct aio_queue *q);
/* Who is in aio_queue_wait(), or polls, looks again. */
void aio_tell(struct aio_queue *q);
/* Drives all places until there is nothing to do; the set then says when there is. */
void aio_rest(struct aio_queue *q);
/* Sleeps on the set until that time at most. */
void aio_sleep(struct aio_queue *q, uint64_t until);

#endif

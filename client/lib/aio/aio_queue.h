/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio_queue.h - queues of calls in flight without threads (coroutine.h).  A queue decides
 * which calls run, which thread drives them, and where their ends are reported.
 *
 * 	submitted --> waiting --> under way, PVFS_AIO_DEPTH --> ended --> reaped
 *
 * A thread in aio_queue_wait() drives the session at which the calls wait.  If calls wait at
 * several sessions, or the owner of the queue polls, the thread sleeps on the descriptors of
 * all these sessions.
 */
#ifndef AIO_QUEUE_H
#define AIO_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct aio_queue;

/* A call.  The caller owns it before aio_queue_add() and after it was reaped. */
struct aio_call {
	/* Runs in a coroutine.  Returns the result, or -errno. */
	int64_t (*run)(struct aio_call *call);
	/* NULL: aio_queue_wait() returns the call */
	void (*done)(struct aio_call *call);
	int64_t result;

	/* private */
	STAILQ_ENTRY(aio_call) link;
	uint64_t since; /* time of submission */
	bool waits; /* not started */
};
STAILQ_HEAD(aio_calls, aio_call);

/*
 * Creates a queue, which the caller frees with aio_queue_free().  tended: see PVFS_AIO_TENDED.
 * Returns 0; -ENOMEM; -EMFILE, -ENFILE: no descriptors left.
 */
int aio_queue_new(bool tended, struct aio_queue **queue);
/*
 * Waits for the calls in flight and frees the queue.  For each call that was not reaped, calls
 * done(), or adds the call to ended if it has no done().
 */
void aio_queue_free(struct aio_queue *queue, struct aio_calls *ended);
/*
 * In a child after fork(): frees the memory and descriptors.  The calls in flight belong
 * to the parent.
 */
void aio_queue_abandon(struct aio_queue *queue);

/* Adds call, whose run and done the caller has set.  aio_queue_start() starts it. */
void aio_queue_add(struct aio_queue *queue, struct aio_call *call);
/* Starts added calls, as far as PVFS_AIO_DEPTH permits. */
void aio_queue_start(struct aio_queue *queue);
/*
 * Waits as pvfs_aio_wait() does, at most until the clock_now() `until`.  Appends the calls that
 * have ended to *ended.  Returns their number, or -EAGAIN: another thread waited on the queue for
 * all that time.
 */
int aio_queue_wait(struct aio_queue *queue, struct aio_calls *ended,
		   unsigned int max, unsigned int min, uint64_t until);
/* See pvfs_aio_fd(). */
int aio_queue_fd(struct aio_queue *queue);
/* Ends a call that has not started with -ECANCELED.  -EALREADY: it has started. */
int aio_queue_cancel(struct aio_queue *queue, struct aio_call *call);

#endif

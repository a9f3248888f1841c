/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio_queue.h - queues of calls that are under way without threads (strand.h): which of
 * them run, who drives them, and who hears of their ends.
 *
 *	submitted --> waiting --> under way, PVFS_AIO_DEPTH --> ended --> reaped
 *
 * Who waits for some of a queue drives the session that they are at; a queue with
 * calls at several, or whose owner polls, sleeps on the descriptors of all.
 */
#ifndef AIO_QUEUE_H
#define AIO_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct aio_queue;

/* A call; the caller's before aio_queue_add() and after it was reaped. */
struct aio_call {
	/* In a strand.  The result, or -errno. */
	int64_t (*run)(struct aio_call *call);
	/* NULL: aio_queue_wait() returns it */
	void (*done)(struct aio_call *call);
	int64_t result;

	/* private */
	STAILQ_ENTRY(aio_call) link;
	uint64_t since; /* submitted */
	bool waits; /* its turn has not come */
};
STAILQ_HEAD(aio_calls, aio_call);

/* tended: see PVFS_AIO_TENDED.  0, -ENOMEM, -EMFILE or -ENFILE. */
int aio_queue_new(bool tended, struct aio_queue **queue);
/*
 * Waits for what is under way; calls done() of what nobody reaped, or adds it to
 * ended.
 */
void aio_queue_free(struct aio_queue *queue, struct aio_calls *ended);
/* In a child after fork(): its memory and descriptors; what was under way is the
 * parent's. */
void aio_queue_abandon(struct aio_queue *queue);

/* The call is prepared: run, done. */
void aio_queue_add(struct aio_queue *queue, struct aio_call *call);
/* What was added begins, as far as its turn comes. */
void aio_queue_start(struct aio_queue *queue);
/* See pvfs_aio_wait(); until is in ns; adds to ended.  The number, or -EAGAIN. */
int aio_queue_wait(struct aio_queue *queue, struct aio_calls *ended,
		   unsigned int max, unsigned int min, uint64_t until);
/* See pvfs_aio_fd(). */
int aio_queue_fd(struct aio_queue *queue);
/* 0 or -EALREADY. */
int aio_queue_cancel(struct aio_queue *queue, struct aio_call *call);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_queue.h - the POSIX asynchronous requests of this process in flight, and their
 * order.  A request is a call in an aio_queue (aio_queue.h), so libc creates no thread for it.
 *
 * A NULL queue is an empty one.
 */
#ifndef REQUEST_QUEUE_H
#define REQUEST_QUEUE_H

#include <aio.h>
#include <sys/queue.h>

#include "client/lib/aio/aio_queue.h"

struct request_queue;

/*
 * The first member of memory from malloc().  The caller sets call.run, call.done, cb and
 * fd.  call.done must call request_queue_remove() and request_put().
 */
struct queued_request {
	struct aio_call call;
	const struct aiocb *cb;
	int fd;

	/* private */
	struct request_queue *queue;
	uint64_t number; /* in the order of start */
	unsigned int waits_for; /* number of earlier requests in flight */
	bool ended; /* no longer in the list */
	unsigned int holders; /* number of threads that want to cancel it */
	LIST_ENTRY(queued_request) link;
};

/* NULL: no memory or no descriptors. */
struct request_queue *request_queue_new(void);
/* Waits for the requests in flight.  No other thread may use the queue. */
void request_queue_free(struct request_queue *q);
/* In a child after fork(): the requests in flight belong to the parent. */
void request_queue_abandon(struct request_queue *q);

/*
 * Adds r.  If after_earlier is set and other requests of the same descriptor are in flight, returns
 * false: r starts after the last of them.  Otherwise returns true, and the caller starts r with
 * request_start().
 */
bool request_queue_add(struct request_queue *q, struct queued_request *r,
		       bool after_earlier);
void request_start(struct queued_request *r);
/*
 * Removes r, which has ended.  Returns a request that waited only for r, which the caller
 * starts; or NULL.
 */
struct queued_request *request_queue_remove(struct queued_request *r);
/*
 * Ends the queue's use of r; the last user frees it.  Call it after request_queue_remove(), and
 * after the program was told that r has ended.
 */
void request_put(struct queued_request *r);

bool request_queue_is_empty(struct request_queue *q);
/* Whether the request of cb is in flight. */
bool request_queue_has(struct request_queue *q, const struct aiocb *cb);
/* Whether a request of the descriptor fd is in flight. */
bool request_queue_has_fd(struct request_queue *q, int fd);
/*
 * Drives the requests until one has ended, at most until the clock_now() until.  Returns true if
 * the caller must return to the program, whose signal handler then runs (own_call.h); or if there
 * is no queue.
 */
bool request_queue_wait(struct request_queue *q, uint64_t until);
/* Waits until no request is in flight. */
void request_queue_drain(struct request_queue *q);
/*
 * Cancels the request of cb (NULL: all requests of fd), as far as they have not started.  Returns
 * as aio_cancel(3): AIO_CANCELED, AIO_NOTCANCELED, AIO_ALLDONE; or -1: cb is not for fd.
 */
int request_queue_cancel(struct request_queue *q, int fd,
			 const struct aiocb *cb);

#endif

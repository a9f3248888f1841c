/* SPDX-License-Identifier: BSD-2-Clause */
/* requests_int.h - shared by the files that implement requests.h. */
#ifndef REQUESTS_INT_H
#define REQUESTS_INT_H

#include "client/lib/aio/aio_queue.h"
#include "client/preload/move.h"
#include "client/preload/requests.h"

struct request {
	struct aio_call call;
	struct requests *all;
	struct aiocb *cb;
	struct sigevent how;
	struct group *group;
	struct move move;
	struct iovec iov;
	int64_t off;
	int op; /* argument of aio_fsync() */
	uint64_t number; /* in the order of start */
	unsigned int behind; /* of a sync: earlier requests in flight */
	bool over; /* no longer in the list; under its lock, like held */
	unsigned int held; /* number of threads that want to cancel it */
	LIST_ENTRY(request) link;
};

struct requests {
	struct aio_queue *queue;
	pthread_mutex_t lock; /* protects all below */
	LIST_HEAD(, request) under_way; /* the newest first */
	uint64_t begun; /* number of requests so far */
	unsigned int behind; /* syncs that wait for others: usually none */
};

/* NULL: this process has no requests. */
struct requests *requests_there(void);
/* Called after a request was executed, or is no longer held.  The last call frees it. */
void request_let_go(struct request *r, bool ended);

#endif

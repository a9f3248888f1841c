/* SPDX-License-Identifier: BSD-2-Clause */
/* requests_int.h - what the files of requests.h share. */
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
	int op; /* of aio_fsync() */
	uint64_t number; /* in the order in which they began */
	unsigned int behind; /* a sync: so many before it are under way */
	bool over; /* not in the list any more, under its lock, as: */
	unsigned int held; /* by who wants to take it back */
	LIST_ENTRY(request) link;
};

struct requests {
	struct aio_queue *queue;
	pthread_mutex_t lock; /* all below */
	LIST_HEAD(, request) under_way; /* the youngest first */
	uint64_t begun; /* ever */
	unsigned int behind; /* syncs that wait for others: mostly none */
};

/* NULL: this process has made none. */
struct requests *requests_there(void);
/* Who carried it out, or held it, is done with it; the last one frees it. */
void request_let_go(struct request *r, bool ended);

#endif

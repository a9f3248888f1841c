/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * park.h - queues of requests that wait for something, in order of arrival, each until
 * its deadline.
 */
#ifndef PARK_H
#define PARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"

struct mgr;
struct request;

struct park {
	TAILQ_HEAD(park_queue, request) waiting;
	enum rpc_part part; /* the part of the time that a wait here counts as */
	/* The deadline of a request has passed, and it is out of the queue: answer it. */
	void (*late)(struct park *park, struct request *req);
};

void park_init(struct park *park, enum rpc_part part,
	       void (*late)(struct park *park, struct request *req));
/* Waits as long as the request may: rpc_req_wait_until(). */
void park_wait(struct park *park, struct request *req);
/* Waits until `when` (clock_now()) or its deadline, whichever is earlier. */
void park_wait_until(struct park *park, struct request *req, uint64_t when);
/* Takes out the oldest request; NULL: none waits. */
struct request *park_take(struct park *park);

/*
 * Runs waiting requests, oldest first, while may() is true; at most as many per call as
 * one turn of the event loop allows.  true: call it again.
 */
bool park_run(struct mgr *mgr, struct park *park,
	      bool (*may)(const struct mgr *mgr));

/* Makes the loop call late() at once.  No effect on a request that does not wait. */
void park_hurry(struct request *req);
/* Takes out this request, which must be waiting. */
void park_leave(struct request *req);

static inline bool park_empty(const struct park *park)
{
	return TAILQ_EMPTY(&park->waiting);
}

#endif

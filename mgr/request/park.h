/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * park.h - where requests wait for something, each until its deadline, in the
 * order in which they came.
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
	enum rpc_part part; /* what those who wait here wait for */
	/* A request's deadline passed, it is out of the queue: answer it. */
	void (*late)(struct park *park, struct request *req);
};

void park_init(struct park *park, enum rpc_part part,
	       void (*late)(struct park *park, struct request *req));
/* As long as it may: rpc_req_patience(). */
void park_wait(struct park *park, struct request *req);
/* At most until when (clock_now()), and not beyond its deadline. */
void park_wait_until(struct park *park, struct request *req, uint64_t when);
/* Takes out the oldest; NULL: nobody waits. */
struct request *park_take(struct park *park);

/*
 * Runs those who wait, the oldest first, while may(): no more in one call than a turn of the event
 * loop should.  True: it has to be called again.
 */
bool park_run(struct mgr *mgr, struct park *park,
	      bool (*may)(const struct mgr *mgr));

/* late() comes at once, from the loop; for one that does not wait nothing happens. */
void park_hurry(struct request *req);
/* Takes out this one, which waits. */
void park_leave(struct request *req);

static inline bool park_empty(const struct park *park)
{
	return TAILQ_EMPTY(&park->waiting);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_queue.h - which request the manager's thread executes next.
 *
 * A request runs in turns of at most about RUN_BUDGET units of work (ns_work()).  Users are
 * served in rounds: in each round a user's requests run until they have used RUN_BUDGET.  What a
 * turn used beyond that counts for the user's next rounds.  The
 * sessions of a user take turns, and the requests of a session run in the order in which they
 * came.  So a request of one user waits for about one budget of each other user.
 *
 * A request that arrives runs at once if its user has used less than that since the last
 * round and has nothing in the queue: an idle manager keeps nothing waiting.
 */
#ifndef RUN_QUEUE_H
#define RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mgr/ns/ns.h"

/* Of one user in one round: what one turn of a request may use. */
#define RUN_BUDGET NS_TURN_STEPS

struct run_queue;
struct run_session;

/* Lies in the request. */
struct run_item {
	struct run_session *session; /* NULL: it is not in the queue */
	TAILQ_ENTRY(run_item) link;
};

/* Whose it is. */
struct run_owner {
	uint32_t uid;
	uint64_t session;
};

/* Executes a turn.  The item may be in the queue again, or be gone.  Returns the work. */
typedef uint64_t run_fn(struct run_item *item);

int run_queue_open(run_fn *run, struct run_queue **out);
/* Items that are left are not touched. */
void run_queue_close(struct run_queue *q);
/* A new one: runs it, or puts it in the queue. */
void run_queue_admit(struct run_queue *q, struct run_item *item,
		     const struct run_owner *owner);
/* Behind the others of its session.  -ENOMEM */
int run_queue_put(struct run_queue *q, struct run_item *item,
		  const struct run_owner *owner);
void run_queue_leave(struct run_queue *q, struct run_item *item);
void run_queue_round(struct run_queue *q);
bool run_queue_waits(const struct run_queue *q);

#endif

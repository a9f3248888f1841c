/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_queue.h - the order in which the manager's thread executes requests.
 *
 * A request runs in turns of at most about RUN_BUDGET units of work (ns_work()).  Users
 * are served in rounds.  In each round a user's requests run until they have used
 * RUN_BUDGET.  Work of a turn beyond the budget counts for the user's next rounds.  The
 * sessions of a user take turns, and the requests of a session run in order of arrival.
 * So a request of one user waits for about one budget of each other user.
 *
 * A new request runs at once if its user has used less than RUN_BUDGET since the last
 * round and has nothing in the queue.  So an idle manager delays no request.
 */
#ifndef RUN_QUEUE_H
#define RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mgr/ns/ns.h"

/* The budget of one user in one round, and of one turn of a request. */
#define RUN_BUDGET NS_TURN_STEPS

struct run_queue;
struct run_session;

/* Embedded in the request. */
struct run_item {
	struct run_session *session; /* NULL: it is not in the queue */
	TAILQ_ENTRY(run_item) link;
};

/* The user and the session of a request. */
struct run_owner {
	uint32_t uid;
	uint64_t session;
};

/*
 * Executes a turn and returns the work that it took.  Afterwards the item may be in the
 * queue again, or freed.
 */
typedef uint64_t run_fn(struct run_item *item);

int run_queue_open(run_fn *run, struct run_queue **out);
/* Frees the queue.  Does not touch the items that are still in it. */
void run_queue_close(struct run_queue *q);
/* A new request: runs it, or puts it in the queue. */
void run_queue_admit(struct run_queue *q, struct run_item *item,
		     const struct run_owner *owner);
/* Puts the item at the end of the queue of owner->session. -ENOMEM. */
int run_queue_put(struct run_queue *q, struct run_item *item,
		  const struct run_owner *owner);
/* Removes the item from the queue. */
void run_queue_leave(struct run_queue *q, struct run_item *item);
/* Runs one round: one budget of each user. */
void run_queue_round(struct run_queue *q);
/* Whether items wait for another round. */
bool run_queue_waits(const struct run_queue *q);

#endif

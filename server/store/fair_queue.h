/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fair_queue.h - the order in which works of clients begin.  Clients take turns, and clients with
 * no work running come first.  No client has more than a share running.  The works of one client
 * begin in the order in which they were put.
 *
 * Not thread-safe.  Allocates nothing: an item is embedded in its request, so their number is
 * bounded by the requests in flight.
 */
#ifndef FAIR_QUEUE_H
#define FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct fair_queue_client;

struct fair_queue_item {
	struct fair_queue_client *client;
	uint64_t put; /* clock_now() */
	/* by a thread of a queue, clock_now(); 0: not by a thread */
	uint64_t began;
	STAILQ_ENTRY(fair_queue_item) link;
};

TAILQ_HEAD(fair_queue_list, fair_queue_client);

/* A client in one queue.  Call fair_queue_client_init() first. */
struct fair_queue_client {
	STAILQ_HEAD(, fair_queue_item) items;
	unsigned int running; /* items taken and not done */
	struct fair_queue_list *list; /* the list that it is in, or NULL */
	TAILQ_ENTRY(fair_queue_client) link;
};

struct fair_queue {
	unsigned int share; /* how many items of one client may run */
	struct fair_queue_list first; /* clients with items and none running */
	/* clients with items and fewer running than a share */
	struct fair_queue_list more;
};

void fair_queue_init(struct fair_queue *q, unsigned int share);
void fair_queue_client_init(struct fair_queue_client *client);
/* Adds an item.  client and item must exist until fair_queue_item_done() for the item. */
void fair_queue_put(struct fair_queue *q, struct fair_queue_client *client,
		    struct fair_queue_item *item);
/*
 * Returns the next item that may begin, and counts it as running.  more: also an item of a client
 * that has items running, below its share.  NULL: no item may begin.
 */
struct fair_queue_item *fair_queue_take(struct fair_queue *q, bool more);
bool fair_queue_has_item(const struct fair_queue *q, bool more);
void fair_queue_item_done(struct fair_queue *q,
			  struct fair_queue_client *client);

#endif

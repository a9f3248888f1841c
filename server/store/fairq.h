/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fairq.h - the order in which works of clients begin.  Clients take turns, and clients with no
 * work running come first.  No client has more than a share running.  The works of one client
 * begin in the order in which they were put.
 *
 * Not thread-safe.  Allocates nothing: an item is embedded in its request, so their number is
 * bounded by the requests in flight.
 */
#ifndef FAIRQ_H
#define FAIRQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct fairq_client;

struct fairq_item {
	struct fairq_client *client;
	uint64_t put; /* clock_now() */
	/* by a lane's thread, clock_now(); 0: not by a thread */
	uint64_t began;
	STAILQ_ENTRY(fairq_item) link;
};

TAILQ_HEAD(fairq_list, fairq_client);

/* A client in one queue.  Call fairq_client_init() first. */
struct fairq_client {
	STAILQ_HEAD(, fairq_item) items;
	unsigned int running; /* items taken and not done */
	struct fairq_list *list; /* the list that it is in, or NULL */
	TAILQ_ENTRY(fairq_client) link;
};

struct fairq {
	unsigned int share; /* how many items of one client may run */
	struct fairq_list first; /* clients with items and none running */
	/* clients with items and fewer running than a share */
	struct fairq_list more;
};

void fairq_init(struct fairq *q, unsigned int share);
void fairq_client_init(struct fairq_client *client);
/* client lives until its last item is done. */
void fairq_put(struct fairq *q, struct fairq_client *client,
	       struct fairq_item *item);
/* more: also from clients that have items running.  NULL: no item may begin. */
struct fairq_item *fairq_take(struct fairq *q, bool more);
bool fairq_ready(const struct fairq *q, bool more);
void fairq_done(struct fairq *q, struct fairq_client *client);

#endif

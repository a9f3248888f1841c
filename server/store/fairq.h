/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fairq.h - works of clients in the order in which they begin: clients take
 * turns, who has none running first, and none has more than a share running.
 * A client's own works begin in the order in which they came.
 *
 * Not for several threads at once.  It allocates nothing: a work lies in the
 * request that it is of, so there are as many as requests may be under way.
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
	uint64_t began; /* clock_now(), by a thread of a lane; 0: by no such */
	STAILQ_ENTRY(fairq_item) link;
};

TAILQ_HEAD(fairq_list, fairq_client);

/* Of one client in one queue; fairq_client_init() first. */
struct fairq_client {
	STAILQ_HEAD(, fairq_item) items;
	unsigned int running; /* taken and not done */
	struct fairq_list *list; /* that it is in, or NULL */
	TAILQ_ENTRY(fairq_client) link;
};

struct fairq {
	unsigned int share; /* that one client may have running */
	struct fairq_list first; /* they have something to do, none running */
	struct fairq_list more; /* the same with fewer running than a share */
};

void fairq_init(struct fairq *q, unsigned int share);
void fairq_client_init(struct fairq_client *client);
/* client lives until its last item is done. */
void fairq_put(struct fairq *q, struct fairq_client *client,
	       struct fairq_item *item);
/* more: of clients that have one running, too.  NULL: none may begin. */
struct fairq_item *fairq_take(struct fairq *q, bool more);
bool fairq_ready(const struct fairq *q, bool more);
void fairq_done(struct fairq *q, struct fairq_client *client);

#endif

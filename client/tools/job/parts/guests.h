/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests.h - connections that have not proved themselves yet.  The number of places is
 * limited, and so is the time in each.  If all are taken, the address with the most
 * loses its oldest one.  So a peer that only connects cannot keep out those that have
 * the key.
 */
#ifndef JOB_GUESTS_H
#define JOB_GUESTS_H

#include <stdbool.h>

#include "client/tools/job/parts/greet.h"

#define GUESTS 128u

struct guest {
	struct job_link link; /* fd -1: a free place */
	struct greet greet;
	uint64_t since;
	uint32_t ip;
};

struct guests {
	struct guest of[GUESTS];
	uint64_t again; /* clock_now(); no descriptor was left, and none is expected before */
};

void guests_init(struct guests *g);
void guests_close(struct guests *g);
/*
 * True: one more may come now.  Otherwise the listener must not be polled for a moment.
 */
bool guests_room(const struct guests *g);
/* Accepts the connections that wait at the listener, as far as there is room. */
void guests_accept(struct guests *g, int listener);
/* Drops guests whose time is over. */
void guests_drop_late(struct guests *g);
/*
 * Reads what a guest sent.  1: it proved itself; the caller owns *link, and the place
 * is free; 0: not yet; -errno: it was dropped.
 */
int guest_hear(struct guest *g, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, struct job_link *link, unsigned int *rank);

#endif

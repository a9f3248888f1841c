/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests.h - connections whose peer has not yet proved that it has the key.  Their number and their
 * time are limited.  If there is no place for another one, the oldest connection of the address
 * with most of them is closed.  So a peer without the key cannot keep out those that have it.
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
	/*
	 * After accept() found no free descriptor, no connection is accepted before this time,
	 * clock_now().
	 */
	uint64_t again;
};

void guests_init(struct guests *g);
void guests_close(struct guests *g);
/*
 * Returns whether the caller may accept a connection now.  If not, it must not poll the listener.
 */
bool guests_room(const struct guests *g);
/* Accepts the connections that wait at the listener, as far as there is room. */
void guests_accept(struct guests *g, int listener);
/* Drops guests whose time is over. */
void guests_drop_late(struct guests *g);
/*
 * Reads the answer of a guest.  Returns 1: the guest has the key, and the caller now owns *link; 0:
 * the answer is incomplete; -errno: the guest was closed.
 */
int guest_hear(struct guest *g, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, struct job_link *link, unsigned int *rank);

#endif

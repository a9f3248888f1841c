/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guests.h - who has come and proved nothing yet.  There are so many places, and each
 * is had for so long; when all are taken, the address that has most of them loses the one it
 * has longest.  So nobody who only connects keeps out those who have the key.
 */
#ifndef JOB_GUESTS_H
#define JOB_GUESTS_H

#include <stdbool.h>

#include "client/tools/job/parts/greet.h"

#define GUESTS 128u

struct guest {
	struct link link; /* fd -1: a free place */
	struct greet greet;
	uint64_t since;
	uint32_t ip;
};

struct guests {
	struct guest of[GUESTS];
};

void guests_init(struct guests *g);
void guests_close(struct guests *g);
/* May one more come now?  Else the listener is not to be looked at for a moment. */
bool guests_room(const struct guests *g);
/* Lets those in who wait at the listener, as far as there is room. */
void guests_accept(struct guests *g, int listener);
/* Those whose time is over go. */
void guests_drop_late(struct guests *g);
/* What one says.  1: it proved itself; *link is the caller's, and the place is free; 0:
 * not yet; -errno: it was sent away. */
int guest_hear(struct guest *g, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, struct link *link, unsigned int *rank);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush_gather.h - decides whether a flush waits for more changes that could share it.
 *
 * A client whose change was just answered often sends its next change soon.  If the flush starts
 * before that, the new change waits for the whole flush and then needs another one.  With four
 * clients, this state can persist: two pairs of clients flush alternately.  So a flush waits, for a
 * limited time, for the clients that were answered last.  If such a wait had no effect, the next
 * flushes do not wait (spin.h).
 */
#ifndef FLUSH_GATHER_H
#define FLUSH_GATHER_H

#include "common/util/spin.h"

struct gather {
	uint64_t round; /* counts flushes; never 0 */
	/* clients that were answered in this round and have not sent their next request yet */
	unsigned int due;
	uint64_t since; /* clock_now() of the last answer */
	struct spin spin;
};

/* The state of one client; zeroed at first. */
struct gather_client {
	uint64_t round; /* the round in which its next request is expected */
};

void gather_init(struct gather *g);
/* The client got the answer to a change. */
void gather_answered(struct gather *g, struct gather_client *c, uint64_t now);
/* The client has sent its next request. */
void gather_back(struct gather *g, struct gather_client *c);
/* A flush is due and takes about took_ns. */
void gather_begin(struct gather *g, uint64_t took_ns);
/* Returns true while the flush should wait: the caller handles new requests, and calls it again. */
bool gather_waits(struct gather *g, uint64_t now);
/* The flush begins: clients that are not back yet are no longer waited for. */
void gather_end(struct gather *g, uint64_t now);

#endif

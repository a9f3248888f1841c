/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.h - whether a flush waits for more that could share it.
 *
 * A client whose change was answered a moment ago is often about to send its
 * next one.  Flushed without it, that waits for the whole flush and has one of
 * its own then: of four clients two and two take turns for good.  So the
 * flush waits for who was answered last, for a bounded time; where that was in
 * vain, the next ones do not (spin.h).
 */
#ifndef GATHER_H
#define GATHER_H

#include "common/util/spin.h"

struct gather {
	uint64_t round; /* of flushes; never 0 */
	unsigned int due; /* were answered in this one, and not heard of since */
	uint64_t since; /* clock_now() of the last answer */
	struct spin spin;
};

/* A client's part; all zero at first. */
struct gather_client {
	uint64_t round; /* in which it is due */
};

void gather_init(struct gather *g);
/* The client has the answer to a change. */
void gather_answered(struct gather *g, struct gather_client *c, uint64_t now);
/* It is back. */
void gather_back(struct gather *g, struct gather_client *c);
/* A flush is due and would take some took_ns. */
void gather_begin(struct gather *g, uint64_t took_ns);
/* Look for requests again, then ask again. */
bool gather_waits(struct gather *g, uint64_t now);
/* The flush begins: who is not back now is not waited for. */
void gather_end(struct gather *g, uint64_t now);

#endif

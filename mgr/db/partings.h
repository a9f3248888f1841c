/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partings.h - sessions that are over and had capabilities which may not have ended: a ring
 * of the newest ones, so that the next start of the manager knows them as well.
 */
#ifndef PARTINGS_H
#define PARTINGS_H

#include "mgr/db/store.h"

#define PARTINGS_MAX 65536u /* how many the ring has */

struct parting {
	uint64_t session;
	uint64_t until; /* nothing of it counts any more, on the clock of ... */
	uint64_t term; /* ... the manager of that term */
	uint64_t life; /* of a capability, ns */
};

/* Writes number n over number n - PARTINGS_MAX; in a transaction. */
int parting_put(struct store *st, uint64_t n, const struct parting *parting);
/* Calls fn for each one, in no order; stops at the first non-zero and returns it. */
int parting_walk(struct store *st,
		 int (*fn)(void *arg, uint64_t n,
			   const struct parting *parting),
		 void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tombs.h - tombstones: sessions that were ended and must not return.  A
 * queue in order of their ends, so that the oldest ones can be let go.
 */
#ifndef TOMBS_H
#define TOMBS_H

#include "mgr/db/store.h"

/* How many are kept, and for how long (ns); beyond either they are let go. */
struct tomb_limit {
	uint64_t max;
	int64_t keep;
};

struct tomb {
	uint64_t session;
	int64_t ended; /* ns since the epoch */
	bool evicted;
};

/*
 * It comes to the others, and away with up to two that are beyond the limit.
 * seq: 1, 2, 3, ...: tomb_walk() tells the last.
 */
int tomb_add(struct store *st, uint64_t seq, const struct tomb *tomb,
	     const struct tomb_limit *limit);
/*
 * Calls fn for each one, oldest first; stops at the first non-zero and
 * returns it.  *last: the seq of the last one, or 0.
 */
int tomb_walk(struct store *st, int (*fn)(void *arg, const struct tomb *tomb),
	      void *arg, uint64_t *last);

#endif

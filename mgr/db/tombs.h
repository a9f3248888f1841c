/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tombs.h - tombstones: sessions that were ended and must not return.  They form a
 * queue in the order of their ends, so that the oldest ones can be dropped.
 */
#ifndef TOMBS_H
#define TOMBS_H

#include "mgr/db/store.h"

/* Number of tombstones and their age (ns); beyond either limit they are dropped. */
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
 * Adds a tombstone, and drops up to two that are beyond the limit.  seq: 1, 2, 3, ...;
 * tomb_walk() returns the last one.
 */
int tomb_add(struct store *st, uint64_t seq, const struct tomb *tomb,
	     const struct tomb_limit *limit);
/*
 * Calls fn for each tombstone, oldest first; stops at the first non-zero value and
 * returns it. *last: the seq of the last one, or 0.
 */
int tomb_walk(struct store *st, int (*fn)(void *arg, const struct tomb *tomb),
	      void *arg, uint64_t *last);

#endif

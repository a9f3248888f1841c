/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partings.h - ended sessions whose capabilities may still be valid: a ring of the
 * newest ones, so that the next start of the manager knows them.
 */
#ifndef PARTINGS_H
#define PARTINGS_H

#include "mgr/db/store.h"

#define PARTINGS_MAX 65536u /* entries of the ring */

struct parting {
	uint64_t session;
	/* end of its capabilities, on the clock of the manager of `term` */
	uint64_t until;
	uint64_t term; /* of the manager that recorded it */
	uint64_t life; /* lifetime of a capability, ns */
};

/* Writes entry n over entry n - PARTINGS_MAX; call it in a transaction. */
int parting_put(struct store *st, uint64_t n, const struct parting *parting);
/* Calls fn for each entry, in no order; stops at the first non-zero value and returns it. */
int parting_walk(struct store *st,
		 int (*fn)(void *arg, uint64_t n,
			   const struct parting *parting),
		 void *arg);

#endif

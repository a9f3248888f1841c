/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit.h - transfer units: equal pieces of registered memory that bulk data
 * is staged in.  Last in, first out, so that a lightly loaded server keeps
 * using the few that are in the cache.  Belongs to one thread.
 */
#ifndef UNIT_H
#define UNIT_H

#include <sys/queue.h>

#include "transport.h"

struct unit_pool;
struct unit {
	void *addr;
	uint32_t lkey;
	SLIST_ENTRY(unit) link; /* private */
};

int unit_pool_open(struct tp_dev *dev, size_t size, unsigned int n,
		   struct unit_pool **pool);
/* Also with units still out. */
void unit_pool_close(struct unit_pool *pool);
/* NULL: none left. */
struct unit *unit_get(struct unit_pool *pool);
void unit_put(struct unit_pool *pool, struct unit *unit);
unsigned int unit_left(const struct unit_pool *pool);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rail.h - memory that several devices know.
 *
 * A process may reach its peers over several devices at once (local, verbs,
 * tcp); each is a rail, named by its index.  Memory has another key on each;
 * it is registered with a rail when that rail first needs it.
 *
 * A struct rail_mem belongs to one thread at a time.
 */
#ifndef RAIL_H
#define RAIL_H

#include "transport.h"

#define RAILS_MAX 4u

struct rails {
	struct tp_dev *dev[RAILS_MAX];
	unsigned int n;
};

struct rail_mem {
	void *addr;
	size_t len;
	unsigned int access; /* as of tp_mr_reg() */
	struct tp_mr *mr[RAILS_MAX]; /* NULL: not registered there */
};

/* A piece of such memory, for a gather list. */
struct rail_sge {
	void *addr;
	uint32_t len;
	struct rail_mem *mem; /* addr lies in it */
};

/* addr stays the caller's, mapped until rail_mem_fini(). */
static inline void rail_mem_init(struct rail_mem *mem, void *addr, size_t len,
				 unsigned int access)
{
	*mem = (struct rail_mem){ .addr = addr, .len = len, .access = access };
}

/* Registers it with one rail, as tp_mr_reg(); for rail_mem_on(). */
int rail_mem_reg(struct rail_mem *mem, const struct rails *rails,
		 unsigned int rail);
/* With all rails; on an error with none. */
int rail_mem_reg_all(struct rail_mem *mem, const struct rails *rails);
/* Deregisters it everywhere; it may be used again. */
void rail_mem_fini(struct rail_mem *mem);

/* Sees to it that mem->mr[rail] is there.  0, or as tp_mr_reg(). */
static inline int rail_mem_on(struct rail_mem *mem, const struct rails *rails,
			      unsigned int rail)
{
	return mem->mr[rail] ? 0 : rail_mem_reg(mem, rails, rail);
}

#endif

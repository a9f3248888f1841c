/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regs_int.h - the memory that a list call registers: each parent allocation that the
 * caller named, or each group of neighbours in one mapping (PVFS over InfiniBand, ICPP
 * 2003, section 5).
 */
#ifndef REGS_INT_H
#define REGS_INT_H

#include "client/lib/io/plan.h"
#include "common/buffer/rail.h"

/* The maximum number of elements that regs_make() needs. */
unsigned int regs_max(const struct io_plan *plan);
/*
 * Fills mem[], and area[] with pointers into it, with disjoint memory that contains all
 * memory of the plan, not registered yet.  Returns the number of elements.  bold: by
 * hints or in groups; otherwise area[i] is the plan's iov[i].
 */
unsigned int regs_make(const struct io_plan *plan, unsigned int access,
		       bool bold, struct rail_mem *mem, struct rail_mem **area);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regs_int.h - what memory a list call registers: each parent allocation that
 * the caller named, or each group of neighbours in one mapping (PVFS over
 * InfiniBand, ICPP 2003, section 5).
 */
#ifndef REGS_INT_H
#define REGS_INT_H

#include "client/lib/io/plan.h"
#include "common/buffer/rail.h"

/* Room that regs_make() may need. */
unsigned int regs_max(const struct plan *plan);
/*
 * Fills mem[] and area[], which points to it, with disjoint memory that holds
 * all of the plan's, nothing of it registered yet; returns how many.  bold:
 * with hints or in groups; otherwise area[i] is the plan's iov[i].
 */
unsigned int regs_make(const struct plan *plan, unsigned int access, bool bold,
		       struct rail_mem *mem, struct rail_mem **area);

#endif

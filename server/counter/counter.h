/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.h - counters of files: a page for each file that has some, in
 * DIR/counters/HANDLE.
 *
 * The page is mapped, so a change costs a store in memory, and the end of this process
 * takes nothing back.  For the end of the host a ceiling beside each counter is on
 * the disk ahead of it: where a page is of an earlier life of the host, its counters go
 * on from there.  So no value is given twice; some are left out.
 *
 * All functions but counters_open() and counters_close() may be called from any thread.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/log.h"

#define COUNTERS_OPEN 256u /* pages that are mapped while nobody uses them */
#define COUNTER_AHEAD 64u /* the ceiling is that many such changes ahead, */
#define COUNTER_LEAST 1024u /* or this */

struct counters;
struct tp_dev;

struct counters_attr {
	const char *dir; /* of the store */
	bool in_memory; /* it ends with the host: there are no ceilings */
	const struct log *log; /* outlives it */
};
/* -errno; the cause and the fix are logged. */
int counters_open(const struct counters_attr *attr, struct counters **counters);
/* What is in use goes on from just there.  NULL: nothing happens. */
void counters_close(struct counters *counters);

struct counter_change {
	uint64_t handle;
	unsigned int number; /* below WIRE_COUNTERS */
	bool set; /* value takes its place, else it is added */
	int64_t value;
};
static inline bool counter_only_reads(const struct counter_change *c)
{
	return !c->set && !c->value;
}
/*
 * Makes it.  quick: only if that needs no disk and no other thread; else -EAGAIN,
 * and nothing is done.  -EOVERFLOW: it would wrap; -errno of the disk, or
 * that the page is not one, which is logged.  After an error it is as before.
 */
int counter_change(struct counters *counters, const struct counter_change *c,
		   bool quick, int64_t *old);
/* For RDMA atomics of a client. */
struct counter_wish {
	uint64_t handle;
	unsigned int number; /* below WIRE_COUNTERS */
	struct tp_dev *dev; /* over which it comes */
	int64_t step; /* what it adds, above 0 */
	bool raise; /* the ceiling, to upto or above */
	int64_t upto;
};
struct counter_place {
	uint64_t addr; /* 0: it is not lent */
	uint32_t rkey;
	int64_t ceiling; /* what is below is given for good */
};
/*
 * Lends it, if that can be, and raises the ceiling as it needs.  Whoever changes it by
 * counter_change() takes it back, and then it is not lent for a while.  -EAGAIN: it
 * is not lent, and there was nothing to raise; or as counter_change().
 */
int counter_lend(struct counters *counters, const struct counter_wish *wish,
		 struct counter_place *place);
/* Its file is no more. */
void counters_remove(struct counters *counters, uint64_t handle);

#endif

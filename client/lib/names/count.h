/* SPDX-License-Identifier: BSD-2-Clause */
/* count.h - COUNTER at the iod that stores the counter. */
#ifndef COUNT_H
#define COUNT_H

#include "common/dist/dist.h"
#include "client/lib/names/mgr.h"
#include "client/lib/names/atomics.h"

struct counter_ask {
	const struct dist *dist;
	struct words *words; /* words of the open file */
	unsigned int number; /* below WIRE_COUNTERS */
	bool set; /* true: set to value; false: add value */
	int64_t value;
	int64_t old; /* previous value */
};
/*
 * A target_op; arg: struct counter_ask *. -ECONNABORTED, -ETIMEDOUT: unknown whether it
 * was done.
 */
int counter_ask(struct session *s, const struct target *t, void *arg);

#endif

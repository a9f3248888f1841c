/* SPDX-License-Identifier: BSD-2-Clause */
/* count.h - COUNTER at the iod of a file that keeps it. */
#ifndef COUNT_H
#define COUNT_H

#include "common/dist/dist.h"
#include "client/lib/names/mgr.h"
#include "client/lib/names/atomics.h"

struct counter_ask {
	const struct dist *dist;
	struct words *words; /* of the open file */
	unsigned int number; /* below WIRE_COUNTERS */
	bool set; /* value takes its place, else it is added */
	int64_t value;
	int64_t old; /* what it was */
};
/*
 * arg: struct counter_ask *.  A target_op.  -ECONNABORTED, -ETIMEDOUT: done or not.
 */
int counter_ask(struct session *s, const struct target *t, void *arg);

#endif

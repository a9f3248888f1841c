/* SPDX-License-Identifier: BSD-2-Clause */
/* record_int.h - the counts of a file, updated for each call. */
#ifndef RECORD_INT_H
#define RECORD_INT_H

#include "client/lib/profile/profile.h"

struct record {
	struct profile_record sum;
	/* for each direction, the previous access, to compare with the next */
	struct record_last {
		bool moved, strode;
		uint64_t off, end;
		int64_t distance;
	} last[2];
};

/* now: the end of the call, clock_now(). */
void record_count(struct record *record, const struct profile_call *call,
		  uint64_t now);

#endif

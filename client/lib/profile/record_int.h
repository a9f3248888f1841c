/* SPDX-License-Identifier: BSD-2-Clause */
/* record_int.h - what is counted of a file, and of all of them. */
#ifndef RECORD_INT_H
#define RECORD_INT_H

#include "profile.h"

#define RECORD_SIZES                                                           \
	10u /* up to 100, 1K, 10K, 100K, 1M, 4M, 10M, 100M, 1G, above */
#define RECORD_COMMON 8u
#define RECORD_SHOWN 4u

/*
 * The most common of many values.  They are exact as long as there are no more than these;
 * a further one takes the place of the rarest and begins at its count, so that what is
 * common stays, and no count is too low.
 */
struct record_common {
	int64_t value;
	uint64_t count;
};

/* Reads, or writes. */
struct record_way {
	uint64_t bytes;
	uint64_t sizes[RECORD_SIZES];
	uint64_t sequential; /* at or behind the end of the one before */
	uint64_t consecutive; /* at its end */
	uint64_t strided; /* as far from the one before as that from its own */
	uint64_t unaligned; /* begins within a stripe */
	uint64_t large; /* a stripe or more */
	uint64_t large_unaligned;
	struct record_common size[RECORD_COMMON];
	struct record_common
		stride[RECORD_COMMON]; /* from beginning to beginning */
	/* of the one before */
	bool moved, strode;
	uint64_t off, end;
	int64_t distance;
};

struct record {
	uint64_t calls[PROFILE_KINDS];
	uint64_t ns[PROFILE_KINDS];
	uint64_t errors;
	uint64_t pieces; /* of lists */
	struct record_way way[2]; /* reads, writes */
	uint64_t slowest_ns;
	enum profile_kind slowest;
	uint64_t first, last; /* a transfer began, and ended; clock_now() */
};

/* now: the end of the call. */
void record_count(struct record *r, const struct profile_call *call,
		  uint64_t now);
/* Adds what another one has; what its last call was stays unknown. */
void record_add(struct record *r, const struct record *other);
/* The commonest first; fewer than RECORD_SHOWN end with a count of 0. */
void record_common_top(const struct record_common all[RECORD_COMMON],
		       struct record_common top[RECORD_SHOWN]);
unsigned int record_bucket(uint64_t size);

#endif

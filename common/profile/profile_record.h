/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_record.h - the record of a file in a profile, or the sum of many. The library counts and
 * writes it (PVFS_PROFILE); pvfs-profile reads it.
 */
#ifndef PROFILE_RECORD_H
#define PROFILE_RECORD_H

#include <stdint.h>

enum profile_kind {
	PROFILE_OPEN,
	PROFILE_CLOSE,
	PROFILE_READ,
	PROFILE_WRITE,
	PROFILE_LIST_READ,
	PROFILE_LIST_WRITE,
	PROFILE_STAT,
	PROFILE_META, /* other calls on names and attributes */
	PROFILE_DIR, /* reading directory entries */
	PROFILE_LOCK,
	PROFILE_FSYNC,
	/* asynchronous requests; their time is the time in flight */
	PROFILE_AIO,
	PROFILE_WAIT, /* waiting for requests */
	PROFILE_KINDS
};
/* The names used in the JSON output. */
extern const char *const profile_kind_name[PROFILE_KINDS];

/* Sizes of calls: up to 100, 1K, 10K, 100K, 1M, 4M, 10M, 100M, 1G, above. */
#define PROFILE_SIZES 10u
unsigned int profile_size(uint64_t bytes);

/*
 * A table of the most frequent of many values, the most frequent first. With at most PROFILE_COMMON
 * different values, the counts are exact. A further value replaces the rarest one and continues
 * with its count. So frequent values stay in the table, and no count is too low.
 */
#define PROFILE_COMMON 8u
#define PROFILE_SHOWN 4u /* number of values of a table that are written */
struct profile_common {
	int64_t value;
	uint64_t count; /* 0 if the row is unused */
};

enum { PROFILE_READS, PROFILE_WRITES };
struct profile_way {
	uint64_t bytes;
	uint64_t sizes[PROFILE_SIZES];
	/* calls that start at or after the end of the previous call */
	uint64_t sequential;
	/* calls that start exactly at the end of the previous call */
	uint64_t consecutive;
	uint64_t strided; /* same distance from the previous start as that had from its
			   * predecessor */
	uint64_t unaligned; /* calls that start within a stripe */
	uint64_t large; /* calls of a stripe or more */
	uint64_t large_unaligned;
	struct profile_common size[PROFILE_COMMON];
	struct profile_common
		stride[PROFILE_COMMON]; /* distance between starts */
};

struct profile_record {
	uint64_t calls[PROFILE_KINDS];
	uint64_t ns[PROFILE_KINDS];
	uint64_t errors;
	uint64_t pieces; /* number of pieces in list calls */
	struct profile_way way[2];
	uint64_t slowest_ns;
	enum profile_kind slowest;
	/*
	 * start of the first transfer and end of the last one, in ns of one clock; last is 0 if
	 * there was no transfer
	 */
	uint64_t first, last;
};

void profile_record_add(struct profile_record *r,
			const struct profile_record *other);
void profile_common_add(struct profile_common c[PROFILE_COMMON], int64_t value,
			uint64_t times);

#endif

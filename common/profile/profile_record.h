/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_record.h - what a profile says of a file, or of many together: the library
 * counts and writes it (PVFS_PROFILE), pvfs-profile reads it.
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
	PROFILE_DIR, /* entries of directories */
	PROFILE_LOCK,
	PROFILE_FSYNC,
	PROFILE_AIO, /* requests; its time is that under way */
	PROFILE_WAIT, /* for requests */
	PROFILE_KINDS
};
/* As the JSON names them. */
extern const char *const profile_kind_name[PROFILE_KINDS];

/* Sizes of calls: up to 100, 1K, 10K, 100K, 1M, 4M, 10M, 100M, 1G, above. */
#define PROFILE_SIZES 10u
unsigned int profile_size(uint64_t bytes);

/*
 * The most common of many values, the commonest first.  They are exact as long as there
 * are no more than these; a further one takes the place of the rarest and begins at its
 * count, so that what is common stays, and no count is too low.
 */
#define PROFILE_COMMON 8u
#define PROFILE_SHOWN 4u /* of them are written */
struct profile_common {
	int64_t value;
	uint64_t count; /* 0: none */
};

enum { PROFILE_READS, PROFILE_WRITES };
struct profile_way {
	uint64_t bytes;
	uint64_t sizes[PROFILE_SIZES];
	uint64_t sequential; /* at or behind the end of the one before */
	uint64_t consecutive; /* at its end */
	uint64_t strided; /* as far from the one before as that from its own */
	uint64_t unaligned; /* begins within a stripe */
	uint64_t large; /* a stripe or more */
	uint64_t large_unaligned;
	struct profile_common size[PROFILE_COMMON];
	struct profile_common
		stride[PROFILE_COMMON]; /* from beginning to beginning */
};

struct profile_record {
	uint64_t calls[PROFILE_KINDS];
	uint64_t ns[PROFILE_KINDS];
	uint64_t errors;
	uint64_t pieces; /* of lists */
	struct profile_way way[2];
	uint64_t slowest_ns;
	enum profile_kind slowest;
	/* a transfer began, and ended; ns of one clock, last of 0: there was none */
	uint64_t first, last;
};

void profile_record_add(struct profile_record *r,
			const struct profile_record *other);
void profile_common_add(struct profile_common c[PROFILE_COMMON], int64_t value,
			uint64_t times);

#endif

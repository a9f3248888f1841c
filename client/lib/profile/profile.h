/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - if the environment variable PVFS_PROFILE is set, counts the calls of the program
 * and writes the counts as JSON when it exits (pvfs-profile(1)).
 *
 * A process has one profile: profile_active, which is NULL without PVFS_PROFILE.  Counting
 * never waits for a lock.  Each thread has a preferred shard of the counts.  If another thread
 * is using that shard, the thread takes the next one.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/util/clock.h"
#include "common/profile/profile_record.h"

struct log;
struct profile;

/* Where calls are counted: a file, or one of these. */
enum {
	PROFILE_NAMES, /* calls by name, without a file */
	PROFILE_REST, /* files for which there was no room */
	PROFILE_FIRST
};

extern _Atomic(struct profile *) profile_active
	__attribute__((visibility("hidden")));

static inline bool profile_on(void)
{
	return __builtin_expect(atomic_load_explicit(&profile_active,
						     memory_order_relaxed) !=
					NULL,
				0);
}

/* The start time of a call, for profile_done(); 0: nothing is counted. */
static inline uint64_t profile_start(void)
{
	return profile_on() ? clock_now() : 0;
}

/* ---- the process: profile.c ---- */

/*
 * Starts the profile if PVFS_PROFILE is set; a repeated call does nothing.  Errors go to log,
 * which must exist until the process ends.
 */
void profile_begin(const struct log *log);
/*
 * Writes the counts so far, and replaces the file of an earlier call in this process.  Does
 * nothing in a child that shares memory with its parent (vfork).  Keeps errno.
 */
void profile_write(void);
/* Returns the number under which a file is counted, or PROFILE_NAMES if nothing is counted. */
unsigned int profile_file(uint64_t fsid, uint64_t handle, uint32_t ssize,
			  uint32_t pcount);
/* Sets the name of a file; the first name stays.  how: the O_ACCMODE of the open. */
void profile_named(unsigned int file, const char *name, int how);

/*
 * A call that has ended.  aside: it was an asynchronous request, so no thread of the program
 * waited.
 */

/* A call that has ended.  aside: an asynchronous request, for which no thread waited. */
struct profile_call {
	enum profile_kind kind;
	unsigned int file;
	uint64_t begun; /* profile_start() */
	int64_t result; /* 0 or more, or -errno */
	bool aside;
	/* only for reads, writes and lists */
	uint64_t off; /* in bytes of the file, or of the view */
	uint64_t pieces;
	/* stripe size; 0: the position of its stripes is unknown */
	uint32_t ssize;
};
void profile_count(const struct profile_call *call);

static inline void profile_done(enum profile_kind kind, unsigned int file,
				uint64_t begun, int64_t result, bool aside)
{
	const struct profile_call call = { .kind = kind,
					   .file = file,
					   .begun = begun,
					   .result = result,
					   .aside = aside };

	if (begun)
		profile_count(&call);
}

#endif

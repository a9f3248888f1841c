/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - what a program did through this library, counted if PVFS_PROFILE asks for it
 * and written as JSON at its end (pvfs-profile(1)).
 *
 * As <pvfs.h> names no instance, there is one a process: profile_active, which is NULL
 * where nobody asked.  Counting takes no lock that anybody waits for: a thread adds to
 * the part that it got first, or, if another one is in there, to the next.
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

/* What calls count for: a file, or one of these. */
enum {
	PROFILE_NAMES, /* calls by name, and on no file */
	PROFILE_REST, /* files that there was no room for */
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

/* A call begins: for profile_done(); 0 if nobody counts. */
static inline uint64_t profile_start(void)
{
	return profile_on() ? clock_now() : 0;
}

/* ---- the process: profile.c ---- */

/* Once or several times, at the beginning.  log: of what goes wrong; outlives it. */
void profile_begin(const struct log *log);
/*
 * Writes what was counted so far, in place of what this process wrote before.  Not in a
 * child that shares memory with its parent.  Keeps errno.
 */
void profile_write(void);
/* The number to count a file under, while somebody counts; else PROFILE_NAMES. */
unsigned int profile_file(uint64_t fsid, uint64_t handle, uint32_t ssize,
			  uint32_t pcount);
/* The first name stays.  how: the O_ACCMODE of an open. */
void profile_named(unsigned int file, const char *name, int how);

/* ---- counting: count.c ---- */

/* A call has ended.  aside: nobody waited for it. */
struct profile_call {
	enum profile_kind kind;
	unsigned int file;
	uint64_t begun; /* profile_start() */
	int64_t result; /* or -errno */
	bool aside;
	/* of reads, writes and lists */
	uint64_t off; /* bytes of the file, or of the view */
	uint64_t pieces;
	uint32_t ssize; /* 0: where its stripes are is not known */
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

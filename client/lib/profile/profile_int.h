/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_int.h - the profile of a process, and writing it. */
#ifndef PROFILE_INT_H
#define PROFILE_INT_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "common/util/log.h"
#include "client/lib/profile/profile.h"

#define PROFILE_FILES 1024u
#define PROFILE_PLACES (PROFILE_FILES + PROFILE_FIRST)
#define PROFILE_NAME 256u
#define PROFILE_BUCKETS 2048u
#define PROFILE_SHARDS 16u

struct profile_name {
	uint64_t fsid, handle;
	uint32_t ssize, pcount;
	atomic_uint how; /* bits: 1: opened for reading; 2: for writing */
	/* "": opened without a name, or not by this process */
	char name[PROFILE_NAME];
	bool cut; /* the name was longer */
};

/* The counts of a file, updated for each call. */
struct profile_counts {
	struct profile_record sum;
	/* for each direction, the previous access, to compare with the next */
	struct record_last {
		bool moved, strode;
		uint64_t off, end;
		int64_t distance;
	} last[2];
};

/* The counts of a few threads, separate so that threads do not wait for each other. */
struct profile_shard {
	atomic_bool taken;
	struct profile_counts record[PROFILE_PLACES];
} __attribute__((aligned(4096)));

struct profile {
	const struct log *log;
	pid_t pid;
	bool child; /* a child of the process that was asked for a profile */
	bool failed; /* writing failed, and this was logged */
	uint64_t begun; /* clock_now() */
	int64_t wall; /* the same, clock_wall() */
	char path[PATH_MAX]; /* with its % patterns */
	char written[PATH_MAX + 32]; /* file that was written; "": none yet */
	atomic_uint threads;

	pthread_mutex_t lock; /* protects the fields below, and writing */
	unsigned int files;
	uint64_t left_out; /* opens of files without a number */
	uint16_t bucket[PROFILE_BUCKETS]; /* place, or 0 */
	struct profile_name name[PROFILE_PLACES];

	struct profile_shard shard[PROFILE_SHARDS];
};

/* ---- profile_shard.c ---- */

/* now: the end of the call, clock_now(). */
void profile_shard_count(struct profile *p, const struct profile_call *call,
			 uint64_t now);
/* Updates the counts of one file. */
void record_count(struct profile_counts *record,
		  const struct profile_call *call, uint64_t now);
/* Sums up one place.  Calls that are counted concurrently may be included or not. */
void profile_sum(struct profile *p, unsigned int place,
		 struct profile_record *sum);

/* ---- profile_path.c ---- */

/* The rank from the environment of MPI launchers; -1: none. */
struct profile_rank {
	int rank, ranks;
};
struct profile_rank profile_rank(void);

/* Makes PVFS_PROFILE absolute, keeping its % patterns.  Returns 0 or -errno. */
int profile_path(const char *given, char path[PATH_MAX]);
/* Creates the file name and opens it for writing.  Returns a descriptor or -errno; -EEXIST. */
int profile_new_file(const char *name);
/*
 * Expands the patterns of p->path, appends a suffix if that file exists, and creates the file.
 * Sets p->written to its name.  Returns a descriptor or -errno.
 */
int profile_create(struct profile *p);

/* ---- profile_json.c ---- */

/* Writes the profile to fd.  Returns 0 or -errno. */
int profile_json(struct profile *p, int fd);

#endif

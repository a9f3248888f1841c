/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_int.h - the profile of a process, and how it is written. */
#ifndef PROFILE_INT_H
#define PROFILE_INT_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "common/util/log.h"
#include "client/lib/profile/record_int.h"

#define PROFILE_FILES 1024u
#define PROFILE_PLACES (PROFILE_FILES + PROFILE_FIRST)
#define PROFILE_NAME 256u
#define PROFILE_BUCKETS 2048u
#define PROFILE_SHARDS 16u

struct profile_name {
	uint64_t fsid, handle;
	uint32_t ssize, pcount;
	atomic_uint how; /* 1: opened to read, 2: to write */
	char name[PROFILE_NAME]; /* "": opened without one, or not here */
	bool cut; /* it was longer */
};

/* The part of a few threads: by itself, so that none waits for another. */
struct profile_shard {
	atomic_bool taken;
	struct record record[PROFILE_PLACES];
} __attribute__((aligned(4096)));

struct profile {
	const struct log *log;
	pid_t pid;
	bool child; /* of a fork of who asked for it */
	bool failed; /* to be written, which was said */
	uint64_t begun; /* clock_now() */
	int64_t wall; /* the same, clock_wall() */
	char path[PATH_MAX]; /* with its % */
	char written[PATH_MAX + 32]; /* where it was; "": nowhere yet */
	atomic_uint threads;

	pthread_mutex_t lock; /* below, and who writes */
	unsigned int files;
	uint64_t left_out; /* opens of files without a number */
	uint16_t bucket[PROFILE_BUCKETS]; /* place, or 0 */
	struct profile_name name[PROFILE_PLACES];

	struct profile_shard shard[PROFILE_SHARDS];
};

/* The sum of a place; what is being counted meanwhile is in, or not. */
void profile_sum(struct profile *p, unsigned int place,
		 struct profile_record *sum);

/* What MPI's launchers tell; -1: nothing. */
struct profile_rank {
	int rank, ranks;
};
struct profile_rank profile_rank(void);

/* ---- profile_path.c ---- */

/* PVFS_PROFILE as an absolute name, its % kept; -errno. */
int profile_path(const char *given, char path[PATH_MAX]);
/* A file of that name that was not there, open for writing: nothing of another process is
 * lost, or written to.  -errno. */
int profile_new_file(const char *name);
/* Opens the file that it means, one that was not there; its name in p->written. */
int profile_create(struct profile *p);

/* ---- profile_json.c ---- */

/* 0 or -errno. */
int profile_json(struct profile *p, int fd);

/* ---- profile_signal.c ---- */

/* PVFS_PROFILE_SIGNAL: a handler that sets this, where the program has none. */
extern atomic_int profile_asked;
void profile_signal(const struct log *log);

#endif

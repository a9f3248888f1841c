/* SPDX-License-Identifier: BSD-2-Clause */
/* intent_log_int.h - the entries of the intent log in memory. */
#ifndef INTENT_LOG_INT_H
#define INTENT_LOG_INT_H

#include <pthread.h>

#include "common/util/hash_table.h"
#include "server/copyset/intent_file.h"
#include "server/copyset/intent_log.h"

struct intent_block_key {
	uint64_t handle, copyset, block;
};

/* An entry.  In the queue if `queued` is not 0. */
struct intent_block {
	struct intent_block_key key;
	uint64_t number; /* of the file; 0: not known */
	uint64_t filed; /* durable: in the file, or were covered when it was written */
	uint64_t queued; /* to be written; a change waits */
	uint64_t recent; /* regions of changes in `epoch` */
	uint64_t stale; /* of changes before, which may count */
	uint64_t epoch;
	struct intent_group *group;
	TAILQ_ENTRY(intent_block) queue;
	TAILQ_ENTRY(intent_block) in_group;
	UT_hash_handle hh;
};
TAILQ_HEAD(intent_blocks, intent_block);
TAILQ_HEAD(intent_changes, intent_log_change);

/* The entry of a whole copyset. */
enum intent_all {
	INTENT_ALL_NONE,
	INTENT_ALL_IN_FORCE, /* changes use it */
	INTENT_ALL_ENDING, /* it is in the file, but changes use entries of their own */
	/* it is in the present file, and not in the new one, which is being written */
	INTENT_ALL_LEAVING
};

/* A copyset.  Once made, it stays. */
struct intent_group {
	uint64_t copyset;
	bool keeps;
	enum intent_all state;
	struct intent_block *all; /* handle 0; NULL: INTENT_ALL_NONE */
	struct intent_blocks blocks;
	size_t n_blocks;
	UT_hash_handle hh;
};

struct intent_log {
	struct intent_log_attr attr;

	pthread_mutex_t file_lock; /* first; all calls of the disk */
	struct intent_file file;

	pthread_mutex_t lock; /* the rest; blocks are freed under both locks */
	struct intent_block *blocks;
	struct intent_group *groups;
	size_t n_blocks; /* of groups without an entry in force for all */
	struct intent_blocks queue;
	size_t n_queued;
	struct intent_changes waiting, running;
	uint64_t epoch; /* increases at intent_log_epoch_begin() */
	uint64_t horizon; /* of the file, or of the new file that is being written */
	uint64_t next; /* changes of files from here on have no blocks */
	uint64_t raised; /* the horizon of the next file; at most the former `next` */
	int failed;
};

/* ---- intent_blocks.c; the caller has the lock ---- */

/* NULL: there is none. */
struct intent_group *intent_group_find(const struct intent_log *log,
				       uint64_t copyset);
struct intent_block *intent_block_find(const struct intent_log *log,
				       const struct intent_block_key *key);
/* Makes it if necessary.  NULL: there is no memory. */
struct intent_group *intent_group_get(struct intent_log *log, uint64_t copyset);
/* The same.  Handle 0: the entry of the whole copyset. */
struct intent_block *intent_block_get(struct intent_log *log,
				      struct intent_group *group,
				      uint64_t handle, uint64_t block);
void intent_block_free(struct intent_log *log, struct intent_block *block);
void intent_blocks_free(struct intent_log *log);
/* Whether the file has the regions without an entry of this block. */
bool intent_block_is_covered(const struct intent_log *log,
			     const struct intent_block *block);
/* Counts a change of these regions in the present epoch. */
void intent_block_touch(const struct intent_log *log,
			struct intent_block *block, uint64_t bits);
/* The regions that have had changes which may count. */
uint64_t intent_block_counts(const struct intent_block *block);
/* Puts regions that are not in the file into the queue, and some after them. */
void intent_block_queue(struct intent_log *log, struct intent_block *block,
			uint64_t bits);
/* Takes the block from the queue, and returns what was queued. */
uint64_t intent_block_unqueue(struct intent_log *log,
			      struct intent_block *block);
void intent_group_set_state(struct intent_log *log, struct intent_group *group,
			    enum intent_all state);
/* If there are blocks_max blocks, replaces those of the largest group.  0 or -ENOMEM. */
int intent_blocks_limit(struct intent_log *log);

/* ---- intent_epoch.c ---- */

/* Writes a new file and installs it.  The caller has the file lock, and no other. */
int intent_log_rewrite(struct intent_log *log);

#endif

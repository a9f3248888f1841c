/* SPDX-License-Identifier: BSD-2-Clause */
/* group_int.h - what the files of this folder share. */
#ifndef GROUP_INT_H
#define GROUP_INT_H

#include <stdatomic.h>

#include "mgr/group/group.h"

struct mgr_group {
	struct group_attr attr;
	struct disk_folder disk;
	bool disk_open;
	struct raft_member *member; /* NULL if it is not started */
	struct rpc_timer tick;
	atomic_bool stored; /* mgr_group_collect() has work */
	/* the store has noted entries whose index is not yet in its rows */
	bool unrecorded;
	enum group_state state;
	bool failed; /* only member_abandon() may be called */
	uint64_t term;
	/* the second store has all entries up to this index; 0 if there is none */
	uint64_t filled;
	bool changes; /* a change of the group is in progress */
	/* the caller of the removal in progress */
	member_done removed;
	void *removed_arg;
	int64_t budget; /* bytes that may be proposed before the next tick */
	/* an entry of the store that the member has not taken yet; len is 0 if there is none */
	struct {
		const void *bytes;
		size_t len;
		/* the member's last error, which is logged; 0 if there was none */
		int refused;
		/* time when the errors began, clock_now() */
		uint64_t refused_at;
	} entry;
	/* A checkpoint that the member has requested. */
	struct {
		/* the checkpoint was requested and has not begun yet */
		bool due;
		bool busy; /* the checkpoint has begun and is not done yet */
		/* the store must be durable up to this entry */
		uint64_t index, term;
	} checkpoint;
};

/*
 * Opens the folder "raft" in the storage, and makes it if missing. Returns 0, or -errno, which is
 * logged.
 */
int group_open_folder(const char *storage, const struct log *log,
		      struct disk_folder *disk);
/*
 * Makes the names of the folders in the storage durable. Returns 0, or -errno, which is not logged.
 */
int group_sync_storage(const char *storage);
/*
 * The rows that the store has now come from no entry of the log.  Records durably that the
 * store has applied entry 1, which stands for them.  -EIO: the store has already applied later
 * entries.  Other errors: those of the store.
 */
int group_record_first(struct store *st, struct store_applied *applied);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_index.h - a copy of all locks in memory, sorted by byte range.  Finding a
 * conflicting lock takes a number of steps that is about the logarithm of the number of
 * locks of the file.  The table is sorted by holder, so a search there would visit every
 * lock.
 *
 * The index follows the transactions of the store: an abort also undoes changes of the
 * index.
 */
#ifndef LOCK_INDEX_H
#define LOCK_INDEX_H

#include "mgr/db/lock_rows.h"

struct lock_index;

/*
 * seed must be secret. max is the limit for all users; one user may have a quarter of it. Returns 0
 * or -ENOMEM.
 */
int lock_index_open(uint64_t seed, size_t max, struct lock_index **out);
void lock_index_close(struct lock_index *index);
/*
 * Adds a lock, and replaces one with the same holder and start. The lock counts for the user uid.
 * Returns 0, or -ENOMEM or -ENOLCK, and nothing changes. -ENOLCK means that this user, or all users
 * together, have too many locks.
 */
int lock_index_put(struct lock_index *index, const struct lock_rec *rec,
		   uint32_t uid);
/*
 * Adds a lock that exists at the start, without limit. It counts for no user. Returns 0 or -ENOMEM.
 */
int lock_index_load(struct lock_index *index, const struct lock_rec *rec);
void lock_index_del(struct lock_index *index, const struct lock_rec *rec);
/* Does the work of lock_reserve(). Not part of a transaction. */
int lock_index_reserve(struct lock_index *index, const struct lock_rec *rec,
		       uint32_t uid, struct lock_node **out);
void lock_index_release(struct lock_index *index, struct lock_node *node);
/* Does the work of lock_set_listener(). */
void lock_index_set_listener(struct lock_index *index, lock_removed_fn *gone,
			     void *arg);
void lock_index_commit(struct lock_index *index);
void lock_index_abort(struct lock_index *index);
/*
 * Does the work of lock_find(). Returns NULL if there is none. The result is valid until the next
 * change. Adds the number of visited nodes to *steps.
 */
const struct lock_rec *lock_index_find(const struct lock_index *index,
				       const struct lock_rec *want,
				       unsigned int *steps);

#endif

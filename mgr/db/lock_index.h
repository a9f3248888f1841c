/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_index.h - all locks once more, in memory and in the order of bytes: what is in the way
 * of a lock is found in about as many steps as the logarithm of the locks of the file.  In
 * the table the locks of a holder stand together, so a search there would look at each.
 *
 * It follows the transactions of the store: what one changed is undone with it.
 */
#ifndef LOCK_INDEX_H
#define LOCK_INDEX_H

#include "mgr/db/locks.h"

struct lock_index;

/* seed: nobody outside may know it.  max: locks of all; a user may have a quarter.  -ENOMEM */
int lock_index_open(uint64_t seed, size_t max, struct lock_index **out);
void lock_index_close(struct lock_index *index);
/*
 * Takes the place of one of the same holder and start.  It counts for that user.  -ENOMEM, -ENOLCK
 * (the user has too many, or all have): no change.
 */
int lock_index_put(struct lock_index *index, const struct lock_rec *rec,
		   uint32_t uid);
/* One that is there at the start, however many there are; it counts for no user.  -ENOMEM */
int lock_index_load(struct lock_index *index, const struct lock_rec *rec);
void lock_index_del(struct lock_index *index, const struct lock_rec *rec);
/* See lock_reserve(); in no transaction. */
int lock_index_reserve(struct lock_index *index, const struct lock_rec *rec,
		       uint32_t uid, struct lock_node **out);
void lock_index_release(struct lock_index *index, struct lock_node *node);
/* See lock_watch(). */
void lock_index_watch(struct lock_index *index, lock_gone_fn *gone, void *arg);
void lock_index_commit(struct lock_index *index);
void lock_index_abort(struct lock_index *index);
/* See lock_find(); NULL: none.  It is there until the next change.  Counts nodes in *steps. */
const struct lock_rec *lock_index_find(const struct lock_index *index,
				       const struct lock_rec *want,
				       unsigned int *steps);

#endif

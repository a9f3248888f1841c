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

/* seed: must be secret.  max: limit for all users; a quarter of it for one user.  -ENOMEM */
int lock_index_open(uint64_t seed, size_t max, struct lock_index **out);
void lock_index_close(struct lock_index *index);
/*
 * Replaces a lock of the same holder and start.  The lock counts for the user uid.
 * -ENOMEM, -ENOLCK (this user, or all users together, have too many): nothing changed.
 */
int lock_index_put(struct lock_index *index, const struct lock_rec *rec,
		   uint32_t uid);
/* Adds a lock that exists at the start, without limit; it counts for no user.  -ENOMEM */
int lock_index_load(struct lock_index *index, const struct lock_rec *rec);
void lock_index_del(struct lock_index *index, const struct lock_rec *rec);
/* See lock_reserve(); not part of a transaction. */
int lock_index_reserve(struct lock_index *index, const struct lock_rec *rec,
		       uint32_t uid, struct lock_node **out);
void lock_index_release(struct lock_index *index, struct lock_node *node);
/* See lock_set_listener(). */
void lock_index_set_listener(struct lock_index *index, lock_removed_fn *gone,
			     void *arg);
void lock_index_commit(struct lock_index *index);
void lock_index_abort(struct lock_index *index);
/*
 * See lock_find().  NULL: none.  The result is valid until the next change.  Adds the
 * visited nodes to *steps.
 */
const struct lock_rec *lock_index_find(const struct lock_index *index,
				       const struct lock_rec *want,
				       unsigned int *steps);

#endif

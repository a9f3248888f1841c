/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_rows.h - advisory locks on ranges of bytes of files.  Locks are rows, so that they
 * survive a restart of the manager, as do the sessions that hold them.
 */
#ifndef LOCK_ROWS_H
#define LOCK_ROWS_H

#include "mgr/db/store.h"

struct lock_rec {
	uint64_t handle, session, owner;
	uint64_t start, end; /* the bytes [start, end) */
	uint32_t type; /* WIRE_L_SHARED, WIRE_L_EXCLUSIVE */
	uint32_t space; /* WIRE_L_WHOLE or 0 */
};

#define LOCK_EXCLUSIVE 2u /* WIRE_L_EXCLUSIVE */

/*
 * Adds a lock, which counts for the user uid. Returns 0, or -ENOLCK if this user, or all users
 * together, have too many locks.
 */
int lock_put(struct store *st, const struct lock_rec *rec, uint32_t uid);
int lock_del(struct store *st, const struct lock_rec *rec);

/*
 * Sets *rec to the lock of another holder in want->space that conflicts with want and has the
 * lowest start. Returns 0, or -ENOENT if there is none.
 */
int lock_find(struct store *st, const struct lock_rec *want,
	      struct lock_rec *rec);

/*
 * Reserves a lock that is taken in several transactions: until lock_release(), rec has
 * no row but conflicts with others like a lock.  -ENOMEM
 */
struct lock_node;
int lock_reserve(struct store *st, const struct lock_rec *rec, uint32_t uid,
		 struct lock_node **out);
void lock_release(struct store *st, struct lock_node *node);

/*
 * The store calls gone (may be NULL) for each lock and reservation that is removed or
 * changed: at the commit, or in lock_release().  gone must not change locks.
 */
typedef void lock_removed_fn(void *arg, const struct lock_rec *rec);
void lock_set_listener(struct store *st, lock_removed_fn *gone, void *arg);

/* Walks the locks of a file.  The locks of one holder are together, in ascending order. */
struct lock_cursor {
	struct store_cursor it;
	uint64_t handle;
};
int lock_cursor_open(struct store *st, uint64_t handle, uint64_t session,
		     uint64_t owner, struct lock_cursor *it);
/* Returns 0, or -ENOENT after the last lock of the file. */
int lock_cursor_next(struct lock_cursor *it, struct lock_rec *rec);
/*
 * Moves to the first lock of the holder of `at`, in at->space, that ends at at->start
 * or later.  If there is none, moves to the next lock of the file.  Locks of one
 * holder do not overlap.
 */
int lock_cursor_seek(struct lock_cursor *it, const struct lock_rec *at,
		     struct lock_rec *rec);
void lock_cursor_close(struct lock_cursor *it);

/* Returns whether two locks of the same file have the same holder. */
static inline bool lock_same_holder(const struct lock_rec *a,
				    const struct lock_rec *b)
{
	return a->session == b->session && a->owner == b->owner;
}

/* The files of which a session has or had locks, with the number of locks. */
int locker_put(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t locks);
/* Returns 0 or -ENOENT. Rows of older versions have no number, so it is 0. */
int locker_get(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t *locks);
int locker_del(struct store *st, uint64_t session, uint64_t handle);
/* Sets *locks to the number of locks of the session in at most max of its files. */
int locker_count(struct store *st, uint64_t session, uint32_t max,
		 uint32_t *locks);
/* Sets *handle to any of these files. Returns 0, or -ENOENT if there is none. */
int locker_any(struct store *st, uint64_t session, uint64_t *handle);

#endif

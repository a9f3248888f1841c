/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * locks.h - advisory locks: who holds which bytes of a file.  Rows, so that
 * they outlive the mgr as the sessions that hold them do.
 */
#ifndef LOCKS_H
#define LOCKS_H

#include "mgr/db/store.h"

struct lock_rec {
	uint64_t handle, session, owner;
	uint64_t start, end; /* bytes [start, end) */
	uint32_t type; /* WIRE_L_SHARED, WIRE_L_EXCLUSIVE */
	uint32_t space; /* WIRE_L_WHOLE or 0 */
};

#define LOCK_EXCLUSIVE 2u /* WIRE_L_EXCLUSIVE */

/* It counts for the user uid.  -ENOLCK: that one has too many, or all have. */
int lock_put(struct store *st, const struct lock_rec *rec, uint32_t uid);
int lock_del(struct store *st, const struct lock_rec *rec);

/*
 * Of another holder, in want->space, that is in the way of want: of those the one with the
 * lowest start.  -ENOENT.
 */
int lock_find(struct store *st, const struct lock_rec *want,
	      struct lock_rec *rec);

/*
 * Until lock_release() rec is in the way of others as a lock would be, but has no row: for a
 * lock that is taken in several transactions.  -ENOMEM
 */
struct lock_node;
int lock_reserve(struct store *st, const struct lock_rec *rec, uint32_t uid,
		 struct lock_node **out);
void lock_release(struct store *st, struct lock_node *node);

/*
 * gone (or NULL) is called for each lock and reservation that is let go or changed: at the commit,
 * or in lock_release().  It does not change locks.
 */
typedef void lock_gone_fn(void *arg, const struct lock_rec *rec);
void lock_watch(struct store *st, lock_gone_fn *gone, void *arg);

/* Walks the locks of a file, those of one holder together and upwards. */
struct lock_iter {
	struct store_iter it;
	uint64_t handle;
};
int lock_iter_open(struct store *st, uint64_t handle, uint64_t session,
		   uint64_t owner, struct lock_iter *it);
/* 0, or -ENOENT behind the last one of the file. */
int lock_iter_next(struct lock_iter *it, struct lock_rec *rec);
/*
 * To the first lock of the holder of `at`, in at->space, that ends at at->start
 * or behind it; if there is none, to the one that follows.  Those of a
 * holder do not overlap.
 */
int lock_iter_seek(struct lock_iter *it, const struct lock_rec *at,
		   struct lock_rec *rec);
void lock_iter_close(struct lock_iter *it);

/* Of the same file. */
static inline bool lock_same_holder(const struct lock_rec *a,
				    const struct lock_rec *b)
{
	return a->session == b->session && a->owner == b->owner;
}

/* Which files a session has locks of, or had; and how many. */
int locker_put(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t locks);
/* -ENOENT; older versions did not count: 0. */
int locker_get(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t *locks);
int locker_del(struct store *st, uint64_t session, uint64_t handle);
/* All that a session has, at most max files looked at. */
int locker_count(struct store *st, uint64_t session, uint32_t max,
		 uint32_t *locks);
/* One of them; -ENOENT: none. */
int locker_any(struct store *st, uint64_t session, uint64_t *handle);

#endif

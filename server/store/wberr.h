/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wberr.h - which objects had write-back errors, and how many.  The kernel reports an error
 * once per open file, and all clients share one open file.
 *
 * An entry lives as long as a session has written to the object and not yet heard that the data
 * is stable (marks.h), independently of the cache of open files.  The number of users is
 * bounded.  A session that gets no entry uses the errors of the whole store.  All functions
 * except wberr_init() and wberr_destroy() may be called from any thread.
 */
#ifndef WBERR_H
#define WBERR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/hash_table.h"

#define WBERR_MAX 65536u

/* The errors of one object, or of all objects. */
struct wberr {
	atomic_uint gen; /* number of errors so far */
	atomic_int last; /* the latest error, -errno; valid if gen grew */
};

struct wberr_obj {
	uint64_t handle;
	struct wberr err;
	unsigned int users; /* under the table's lock */
	UT_hash_handle hh; /* under the table's lock */
};

struct wberr_table {
	pthread_mutex_t lock;
	struct wberr_obj *objs; /* under lock */
	unsigned int users, max; /* under lock; of all entries */
	struct wberr all;
};

/* max: users; 0: WBERR_MAX. */
void wberr_init(struct wberr_table *t, unsigned int max);
void wberr_destroy(struct wberr_table *t);
/* NULL: max users, or no memory. */
struct wberr_obj *wberr_use(struct wberr_table *t, uint64_t handle);
void wberr_drop(struct wberr_table *t, struct wberr_obj *obj);
bool wberr_used(struct wberr_table *t, uint64_t handle);
/* Records that writing the object to the disk failed with this -errno. */
void wberr_note(struct wberr_table *t, uint64_t handle, int status);

static inline unsigned int wberr_gen(const struct wberr *err)
{
	return atomic_load(&err->gen);
}

/* The latest error since *gen, or 0.  Sets *gen to the current count. */
static inline int wberr_since(const struct wberr *err, unsigned int *gen)
{
	unsigned int now = wberr_gen(err);

	if (now == *gen)
		return 0;
	*gen = now;
	return atomic_load(&err->last);
}

#endif

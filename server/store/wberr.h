/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wberr.h - which objects have failed to reach the disk, and how often: the
 * kernel says so once for each open file, and all clients share one.
 *
 * An entry lives as long as somebody has written to the object and not heard
 * yet that it is stable (marks.h), over the cache of open files.  The number of
 * these is bounded; who finds no room goes by the errors of the whole store.
 * From any thread.
 */
#ifndef WBERR_H
#define WBERR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/hash_table.h"

#define WBERR_MAX 65536u

/* The errors of one object, or of all. */
struct wberr {
	atomic_uint gen; /* grows with each */
	atomic_int last; /* -errno, once gen grew */
};

struct wberr_obj {
	uint64_t handle;
	struct wberr err;
	unsigned int users; /* the table's lock */
	UT_hash_handle hh; /* the table's lock */
};

struct wberr_table {
	pthread_mutex_t lock;
	struct wberr_obj *objs; /* lock */
	unsigned int users, max; /* lock */
	struct wberr all;
};

/* max 0: WBERR_MAX users. */
void wberr_init(struct wberr_table *t, unsigned int max);
void wberr_destroy(struct wberr_table *t);
/* NULL: no room. */
struct wberr_obj *wberr_use(struct wberr_table *t, uint64_t handle);
void wberr_drop(struct wberr_table *t, struct wberr_obj *obj);
bool wberr_used(struct wberr_table *t, uint64_t handle);
/* The object failed to reach the disk with this -errno. */
void wberr_note(struct wberr_table *t, uint64_t handle, int status);

static inline unsigned int wberr_gen(const struct wberr *err)
{
	return atomic_load(&err->gen);
}

/* What came since *gen, which is brought up to date: 0 or -errno. */
static inline int wberr_since(const struct wberr *err, unsigned int *gen)
{
	unsigned int now = wberr_gen(err);

	if (now == *gen)
		return 0;
	*gen = now;
	return atomic_load(&err->last);
}

#endif

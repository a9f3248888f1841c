/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writeback_errors.h - which objects had write-back errors, and how many.  The kernel reports an
 * error once per open file, and all clients share one open file.
 *
 * A session is a user of an object's entry from its first write until it knows that the data is
 * stable (dirty_objects.h).  An entry exists while it has users, independently of the cache of
 * open files.  The number of users of all entries is bounded.  A session that gets no entry uses
 * the errors of the whole store.  All functions except writeback_errors_init() and
 * writeback_errors_destroy() may be called from any thread.
 */
#ifndef WRITEBACK_ERRORS_H
#define WRITEBACK_ERRORS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/dist/object_key.h"
#include "common/util/hash_table.h"

#define WRITEBACK_ERRORS_MAX 65536u

/* The errors of one object, or of all objects. */
struct error_count {
	atomic_uint gen; /* number of errors so far */
	atomic_int last; /* the latest error, -errno; valid if gen is not 0 */
};

struct object_errors {
	struct object_key key;
	struct error_count err;
	unsigned int users; /* under the table's lock */
	UT_hash_handle hh; /* under the table's lock */
};

struct writeback_errors {
	pthread_mutex_t lock;
	struct object_errors *objs; /* under lock */
	unsigned int users, max; /* under lock; of all entries */
	struct error_count all;
};

/* max: bound of the users of all entries; 0: WRITEBACK_ERRORS_MAX. */
void writeback_errors_init(struct writeback_errors *t, unsigned int max);
void writeback_errors_destroy(struct writeback_errors *t);
/*
 * Returns the entry of the object, with the caller as a user until writeback_errors_put().  NULL:
 * there are max users, or no memory.
 */
struct object_errors *writeback_errors_get(struct writeback_errors *t,
					   struct object_key key);
void writeback_errors_put(struct writeback_errors *t,
			  struct object_errors *obj);
/* Whether the object has an entry. */
bool writeback_errors_has(struct writeback_errors *t, struct object_key key);
/* Records that writing the object to the disk failed with this -errno. */
void writeback_errors_add(struct writeback_errors *t, struct object_key key,
			  int status);

static inline unsigned int error_count_get(const struct error_count *err)
{
	return atomic_load(&err->gen);
}

/* The latest error since *gen, or 0.  Sets *gen to the current count. */
static inline int error_count_since(const struct error_count *err,
				    unsigned int *gen)
{
	unsigned int now = error_count_get(err);

	if (now == *gen)
		return 0;
	*gen = now;
	return atomic_load(&err->last);
}

#endif

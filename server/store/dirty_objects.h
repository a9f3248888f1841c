/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dirty_objects.h - the objects that one session has written, and whose data may not be stable yet
 * as far as the session knows.  A flush of the session reports each write-back error that may
 * concern these writes once, also if the flush of another session met the error.  If there is no
 * room for an entry, the session is told the errors of all objects until it ends.
 *
 * Only the session's thread uses them.  A store in memory needs none.
 */
#ifndef DIRTY_OBJECTS_H
#define DIRTY_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist/object_key.h"

struct object_store;
struct dirty_object;

/* Zero at first. */
struct dirty_objects {
	struct dirty_object *table;
	uint64_t writes; /* number of writes that have begun */
	bool wide; /* an entry could not be made: errors of all objects count */
	/* the store's error count as last reported, if wide */
	unsigned int reported;
};

void dirty_objects_free(struct dirty_objects *m, struct object_store *store);

/*
 * Call it when a write begins, and dirty_object_write_end() with the result when it ends.  NULL:
 * there is no entry, because the store is in memory or there is no room.
 */
struct dirty_object *dirty_objects_write_begin(struct dirty_objects *m,
					       struct object_store *store,
					       struct object_key key);
void dirty_object_write_end(struct dirty_object *object);

/* A flush covers all writes that had ended when it began. */
struct dirty_objects_flush {
	struct object_key key;
	uint64_t writes;
	bool all; /* no write was running at the begin */
};
void dirty_objects_flush_begin(const struct dirty_objects *m,
			       struct object_key key,
			       struct dirty_objects_flush *flush);
/*
 * Ends a flush. status: its result.  Returns it; if it is 0, returns the error that another flush
 * has met since the session wrote.  Each error is returned once.
 */
int dirty_objects_flush_end(struct dirty_objects *m, struct object_store *store,
			    const struct dirty_objects_flush *flush,
			    int status);

#endif

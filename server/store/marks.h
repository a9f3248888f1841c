/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.h - the objects that one session has written and not yet heard to be stable.  The
 * session is told once of each write-back error that may concern these writes, also if the
 * flush of another session met the error.  If a session gets no room for a mark, it is told of
 * the errors of all objects until it ends.
 *
 * Only the session's thread uses them.  A store in memory needs none.
 */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct store;
struct mark;

/* Zero at first. */
struct marks {
	struct mark *table;
	uint64_t writes; /* number of writes that have begun */
	bool wide; /* a mark could not be made: errors of all objects count */
	/* the store's error count as last reported, if wide */
	unsigned int seen;
};

void marks_free(struct marks *m, struct store *store);

/* Call it when a write begins, and mark_written() when it ends.  NULL: there is no mark. */
struct mark *marks_write(struct marks *m, struct store *store, uint64_t handle);
void mark_written(struct mark *mark);

/* A flush covers all writes that had ended when it began. */
struct marks_flush {
	uint64_t handle;
	uint64_t writes;
	bool all; /* no write was running at the begin */
};
void marks_flush_begin(const struct marks *m, uint64_t handle,
		       struct marks_flush *flush);
/*
 * status: the result of the flush.  Returns it, or if it is 0, the error that another flush has
 * met since the session wrote.  Each error is returned once.
 */
int marks_flush_end(struct marks *m, struct store *store,
		    const struct marks_flush *flush, int status);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.h - what one session has written and not yet heard to be stable, so
 * that it hears once of each error that may concern that, whoever's flush met
 * it.  A session that finds no room for a mark hears of the errors of all
 * objects instead, until it ends.
 *
 * For the thread of the session alone.  A store in memory needs none.
 */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct store;
struct mark;

/* Zero at the start. */
struct marks {
	struct mark *table;
	uint64_t writes; /* that have begun */
	bool wide; /* there was no room for one */
	unsigned int seen; /* the store's errors, if wide */
};

void marks_free(struct marks *m, struct store *store);

/* A write begins; mark_written() ends it.  NULL: there is no mark. */
struct mark *marks_write(struct marks *m, struct store *store, uint64_t handle);
void mark_written(struct mark *mark);

/* What a flush is for: all that was written when it began. */
struct marks_flush {
	uint64_t handle;
	uint64_t writes;
	bool all; /* no write was under way */
};
void marks_flush_begin(const struct marks *m, uint64_t handle,
		       struct marks_flush *flush);
/*
 * status: of the flush.  That, or the error that another one has met since
 * the session wrote; whichever it is, it is told by that.
 */
int marks_flush_end(struct marks *m, struct store *store,
		    const struct marks_flush *flush, int status);

#endif

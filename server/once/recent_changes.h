/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent_changes.h - what this process changed lately, so that no request that is repeated or
 * delayed on its way changes data a second time.  All functions except recent_changes_open() and
 * recent_changes_close() may be called from any thread.
 */
#ifndef RECENT_CHANGES_H
#define RECENT_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/store_engine.h"

struct recent_changes;

/* -ENOMEM, or an error of random_id(). */
int recent_changes_open(struct recent_changes **recent);
/* NULL: nothing happens. */
void recent_changes_close(struct recent_changes *recent);

/*
 * ---- changed bytes ----
 *
 * A record of changed bytes is needed as long as clients may repeat requests that they sent to an
 * earlier process of the iod.  That process may have executed such a request and ended before it
 * answered.  If another client has changed the same bytes since, and got an answer, this process
 * must not execute the repeated request: the other client's change would be lost.
 */
#define RECENT_CHANGES_MS                                                      \
	60000u /* a request that is repeated later is refused */
#define RECENT_CHANGES_MAX                                                     \
	(1u << 18) /* bound of the ranges that are recorded */

/*
 * Checks and records a change of these bytes of the object, before it is made.  seg: the n ranges.
 * repeated: the change may have been made already, by an earlier process or for a session that was
 * forgotten since.  by: the session that makes the change, which may repeat it over its own
 * changes; 0: no session.  Returns 0: make the change.  Two errors are possible if repeated is
 * true.  -EIO: others have changed some of the bytes, or may have.  -ECONNABORTED: it is not known
 * any more which bytes were changed.
 *
 * If there would be more than RECENT_CHANGES_MAX ranges, an object with very many ranges counts as
 * changed everywhere.  If as many objects are recorded, all records are dropped, and nothing is
 * known any more.  If the process is older than RECENT_CHANGES_MS and repeated is false, the
 * function only loads one variable.
 */
int recent_changes_check(struct recent_changes *recent, struct object_key key,
			 const struct store_seg *seg, unsigned int n,
			 uint64_t by, bool repeated);
/* Forgets all ranges: from now on objects may be changed without a record (loan_table.h). */
void recent_changes_forget(struct recent_changes *recent);

/*
 * ---- truncations ----
 *
 * The last RECENT_TRUNCATIONS truncations of objects that were executed, by the number (id) that
 * the manager gave them.  An iod may have several objects of a file: those of different copysets.
 * The truncation of the file has one id, and is executed once for each of them.  The manager may
 * repeat a truncation after its restart, or if an answer was lost.  A second execution would cut
 * data that was written in between.
 */
#define RECENT_TRUNCATIONS 4096u

enum recent_truncation_state {
	/* execute it, then call recent_truncation_end() */
	RECENT_TRUNCATION_NEW,
	RECENT_TRUNCATION_DONE, /* it was executed */
	/* it is in progress: the manager has to repeat it later */
	RECENT_TRUNCATION_RUNNING
};

struct recent_truncation;

/*
 * Begins the truncation of the object with this id.  id 0: the truncation has none, and
 * RECENT_TRUNCATION_NEW is returned.  If RECENT_TRUNCATION_NEW is returned for an id, *truncation
 * is for recent_truncation_end().  In all other cases it is NULL.
 */
enum recent_truncation_state
recent_truncation_begin(struct recent_changes *recent, struct object_key key,
			uint64_t id, struct recent_truncation **truncation);
/*
 * Ends it.  done: the truncation was executed, and its id is kept.  Not done: its id is forgotten.
 * truncation NULL: nothing happens.
 */
void recent_truncation_end(struct recent_changes *recent,
			   struct recent_truncation *truncation, bool done);

/*
 * ---- removed objects ----
 *
 * Handles are never reused.  So a write to a removed object was delayed on its way, and would
 * make an object that nobody knows.  Only the last RECENT_REMOVALS removed handles are known, if
 * handles are consecutive.
 */
#define RECENT_REMOVALS 65536u

void recent_removal_add(struct recent_changes *recent, struct object_key key);
bool recent_removal_has(const struct recent_changes *recent,
			struct object_key key);

#endif

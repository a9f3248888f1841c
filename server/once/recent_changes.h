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
 * They matter as long as clients may repeat requests that they sent to an earlier process of the
 * iod.  That process may have executed such a request and ended before it answered.  Executing it
 * again is harmless only if nobody else has changed the same bytes since.  Otherwise that later
 * change, which was acknowledged, would be lost.
 */
#define RECENT_CHANGES_MS                                                      \
	60000u /* a request that is repeated later is refused */
#define RECENT_CHANGES_MAX                                                     \
	(1u << 18) /* bound of the ranges that are recorded */

/*
 * Checks and records a change of these bytes of the object, before it is made.  repeated: it may
 * have been made by an earlier process, or for a session that was forgotten since.  by: the
 * session that makes it, which may repeat it over its own changes; 0: none.  0: make it.  Only
 * if repeated: -EIO: others have changed some of the bytes, or may have; -ECONNABORTED: nothing
 * is known any more.  If the process is older than RECENT_CHANGES_MS and repeated is false, it
 * only loads one variable.
 *
 * With more than RECENT_CHANGES_MAX ranges, objects with very many ranges count as changed
 * everywhere.  With as many objects, nothing is known any more.
 */
int recent_changes_check(struct recent_changes *recent, uint64_t handle,
			 const struct store_seg *seg, unsigned int n,
			 uint64_t by, bool repeated);
/* Forgets all ranges: from now on objects may be changed without a record (loan_table.h). */
void recent_changes_forget(struct recent_changes *recent);

/*
 * ---- truncations ----
 *
 * The last ones that were executed, by the number that the manager gave them.  The manager may
 * repeat one after a restart, or if an answer was lost.  Executed a second time, it would cut
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
 * id: of the truncation; 0: it has none, and RECENT_TRUNCATION_NEW is returned.  *truncation: for
 * recent_truncation_end(); NULL unless RECENT_TRUNCATION_NEW is returned for an id.
 */
enum recent_truncation_state
recent_truncation_begin(struct recent_changes *recent, uint64_t id,
			struct recent_truncation **truncation);
/* done: it was executed; otherwise it is forgotten.  truncation NULL: nothing happens. */
void recent_truncation_end(struct recent_changes *recent,
			   struct recent_truncation *truncation, bool done);

/*
 * ---- removed objects ----
 *
 * Handles are never reused.  So a write to a removed object was delayed on its way, and would
 * make an object that nobody knows.  Bounded: of consecutive handles, the last RECENT_REMOVALS
 * are known.
 */
#define RECENT_REMOVALS 65536u

void recent_removal_add(struct recent_changes *recent, uint64_t handle);
bool recent_removal_has(const struct recent_changes *recent, uint64_t handle);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.h - what was changed since this process began.  It matters as long as clients may
 * repeat requests that they sent to the process before.
 *
 * That process may have executed such a request and ended before it answered.  Executing it
 * again is harmless only if nobody else has changed the same bytes since.  Otherwise that later
 * change, which was acknowledged, would be lost.
 */
#ifndef EARLY_H
#define EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/store_engine.h"

#define EARLY_MS 60000u /* a request that is repeated later is refused */
#define EARLY_MAX (1u << 18) /* bound of the places that are recorded */

struct early;

/* -ENOMEM, or an error of random_id(). */
int early_open(struct early **early);
void early_close(struct early *early);
/* Forgets everything: from now on objects may be changed without a record (loan_table.h). */
void early_over(struct early *early);

/*
 * Checks and records a change of these bytes of the object, before it is made.  anew: it may
 * have been made by an earlier process, or for a session that was forgotten since.  by: the
 * session that makes it, which may repeat it over its own changes; 0: none.  0: make it.  Only
 * if anew: -EIO: others have changed some of the bytes, or may have; -ECONNABORTED: nothing is
 * known any more.  May be called from any thread.  If the process is older than EARLY_MS and
 * anew is false, it only loads one variable.
 *
 * With more than EARLY_MAX places, objects with very many places count as changed everywhere.
 * With as many objects, nothing is known any more.
 */
int early_change(struct early *early, uint64_t handle,
		 const struct store_seg *seg, unsigned int n, uint64_t by,
		 bool anew);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.h - what was changed since this process began, as long as that matters:
 * while clients may still repeat what they had sent to the one before.
 *
 * The one before may have carried such a request out and ended before it could
 * answer.  Then it is harmless to do it again only if nobody changed the same
 * bytes in between: what was answered to him would be lost.
 */
#ifndef EARLY_H
#define EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/store_engine.h"

#define EARLY_MS 60000u /* who repeats something later is refused */
#define EARLY_MAX (1u << 18) /* places that are known */

struct early;

/* -errno. */
int early_open(struct early **early);
void early_close(struct early *early);
/* From now on nothing is known: others change objects unseen (loan_table.h). */
void early_over(struct early *early);

/*
 * A change of these bytes of the object begins.  anew: it may have been made by
 * an earlier process, or for a session that was forgotten since.  by: the session
 * whose change it is, which may make it again over its own; 0: nobody's.  0; or for
 * one that is anew -EIO: others have changed some of the bytes, or may have;
 * -ECONNABORTED: nothing is known of it any more.  From any
 * thread; one load for who is not anew when the process is older than EARLY_MS.
 *
 * With more than EARLY_MAX places an object of very many may count as changed
 * everywhere; with as many objects, all do.
 */
int early_change(struct early *early, uint64_t handle,
		 const struct store_seg *seg, unsigned int n, uint64_t by,
		 bool anew);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_rows.h - the rows of rings and copysets in the store.
 *
 * Ring 0 and its copysets, which have one iod each, follow from the number of iods. All others have
 * rows. Each change of rows has a number, the revision; so a caller that knows the rows of one
 * revision reads only those that have changed since.
 *
 * Errors are those of the store; -EIO: a row is damaged. The functions that change rows need an
 * open transaction.
 */
#ifndef COPYSET_ROWS_H
#define COPYSET_ROWS_H

#include "common/dist/copyset.h"
#include "mgr/copyset/copyset_design.h"
#include "mgr/db/store.h"

#define RINGS_MAX 64u /* with ring 0 */

/* -ENOENT: there is no ring with this id. */
int ring_get(struct store *st, uint32_t id, struct ring *ring);
/*
 * Makes a ring with the copysets of the design, of `copies` members each.  The caller makes the
 * design before, outside the thread that serves: copyset_design_make() is slow.  -EINVAL: a member
 * is no iod of the file system.  -ENOSPC: there are RINGS_MAX rings, or too many copysets.
 */
int ring_make(struct store *st, unsigned int copies,
	      const struct copyset_design *design, struct ring *ring);

/* -ENOENT: there is no copyset with this id. */
int copyset_get(struct store *st, uint32_t id, struct copyset *set);
/*
 * Changes the losses, the members and their states of a copyset that has a row. set->version must
 * be that of the row; it grows by one. -ESTALE: the row has another version. -ENOENT: there is no
 * row.
 */
int copyset_change(struct store *st, struct copyset *set);

/* The revision of the last change; 0: there was none. */
int copyset_revision(struct store *st, uint64_t *revision);
/*
 * Reads up to max copysets with rows that have changed after the revision `since`, in ascending
 * order of their ids. *from is the lowest id to be read; it becomes the id at which to continue, or
 * 0: there are no more. Returns their number or -errno.
 */
int copyset_read_changed(struct store *st, uint64_t since, uint32_t *from,
			 struct copyset *set, unsigned int max);

#endif

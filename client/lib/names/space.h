/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space.h - the space of a file at its iods: taken, given back, and where it is.
 * Each is asked for its share of a range, which is one piece of its object.
 */
#ifndef SPACE_H
#define SPACE_H

#include "client/lib/names/mgr.h"

struct space_range {
	const struct dist *dist;
	uint64_t off, len; /* checked by extent_end(); len is not 0 */
	uint32_t flags; /* WIRE_FA_* */
};
/*
 * arg: struct space_range *.  A target_op: as fallocate(2).  The file grows only
 * when all of it has its space.  -ECONNABORTED: done or not; after another error a
 * part may be done.
 */
int space_allocate(struct session *s, const struct target *t, void *arg);

struct space_seek {
	const struct dist *dist;
	uint64_t off;
	bool hole;
	uint64_t found; /* not behind INT64_MAX, which is: no data */
};
/*
 * arg: struct space_seek *.  A target_op: where the next data begins at or behind
 * off, or the next hole as the objects have it, whatever the size of the file.
 */
int space_seek(struct session *s, const struct target *t, void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space.h - the space of a file at its iods: allocating, releasing and finding it.  Each
 * iod gets its share of a range, which is one piece of its object.
 */
#ifndef SPACE_H
#define SPACE_H

#include "client/lib/names/mgr_requests.h"

struct space_range {
	const struct dist *dist;
	uint64_t off, len; /* bytes; checked by extent_end(); len is not 0 */
	uint32_t flags; /* WIRE_FA_* */
};
/*
 * A target_op, like fallocate(2); arg: struct space_range *. The file grows only after
 * all of the range has its space.  -ECONNABORTED: unknown whether it was done.  After
 * another error, part may be done.
 */
int space_allocate(struct session *s, const struct target *t, void *arg);

struct space_seek {
	const struct dist *dist;
	uint64_t off;
	bool hole;
	uint64_t found; /* at most INT64_MAX, which means: no data */
};
/*
 * A target_op; arg: struct space_seek *. Finds the next data at or after off, or the next
 * hole of the objects, regardless of the size of the file.
 */
int space_seek(struct session *s, const struct target *t, void *arg);

/*
 * Copying bytes between two files by their iods, without data passing through the client.
 * The stripes of both files must be aligned alike, so that the share of each object comes
 * from one object in one piece.
 */

struct copy_range {
	const struct dist *dist, *from_dist;
	uint64_t from; /* handle of the source */
	/* destination, source, bytes; checked by extent_end(); len is not 0 */
	uint64_t off, src, len;
	uint32_t flags; /* WIRE_IO_* */
};
/* True: the iods can do it. */
bool copy_fits(const struct copy_range *r);
/*
 * A target_op; arg: struct copy_range *. Bytes that the source does not have become
 * zeros.  After an error, part may be done; -ECONNABORTED: unknown whether it was done.
 * -ENOSYS, -EOPNOTSUPP, -EHOSTUNREACH: these iods do not support it, or cannot connect to
 * each other.
 */
int copy_ask(struct session *s, const struct target *t, void *arg);

#endif

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
 * A target_op, like fallocate(2); arg: struct space_range *.  The file grows only when all of
 * the range has its space.  Returns 0 or -errno.  -ECONNABORTED: unknown whether the iods
 * changed the range.  After another error, part of the range may be changed.
 */
int space_allocate(struct session *s, const struct target *t, void *arg);

struct space_seek {
	const struct dist *dist;
	uint64_t off;
	bool hole;
	uint64_t found; /* at most INT64_MAX, which means: no data */
};
/*
 * A target_op; arg: struct space_seek *.  Sets found to the next data, or (hole) the next hole,
 * at or after off.  Considers only the objects: a hole may be beyond the end of the file.
 */
int space_seek(struct session *s, const struct target *t, void *arg);

/*
 * Copying bytes between two files by their iods, without data passing through the client.
 * The stripes of both files must be aligned alike, so that each destination object
 * receives one contiguous range of one source object.
 */

struct copy_range {
	const struct dist *dist, *from_dist;
	uint64_t from; /* handle of the source */
	/* destination, source, bytes; checked by extent_end(); len is not 0 */
	uint64_t off, src, len;
	uint32_t flags; /* WIRE_IO_* */
};
/* Returns true if the stripes of both files are aligned so that the iods can copy r. */
bool copy_fits(const struct copy_range *r);
/*
 * A target_op that copies; arg: struct copy_range *.  Bytes beyond the end of the source become
 * zeros.  Returns 0 or -errno; after an error, part of the range may be copied:
 * - -ENOSYS, -EOPNOTSUPP: an iod does not support copying.
 * - -EHOSTUNREACH: an iod cannot connect to another one.
 * - -ECONNABORTED: unknown whether the range was copied.
 */
int copy_ask(struct session *s, const struct target *t, void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - copying bytes between two files by their iods, without data passing through
 * the client.  The stripes of both files must be aligned alike, so that the share of each
 * object comes from one object in one piece.
 */
#ifndef COPY_H
#define COPY_H

#include "client/lib/names/mgr.h"

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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.h - bytes of a file that its iods take from another file, without the
 * client.  The stripes of both must lie alike: then each object's share comes from one
 * object, in one piece.
 */
#ifndef COPY_H
#define COPY_H

#include "client/lib/names/mgr.h"

struct copy_range {
	const struct dist *dist, *from_dist;
	uint64_t from; /* handle of what is read */
	uint64_t off, src, len; /* checked by extent_end(); len is not 0 */
	uint32_t flags; /* WIRE_IO_* */
};
/* Iods can do it. */
bool copy_fits(const struct copy_range *r);
/*
 * arg: struct copy_range *.  A target_op.  What the file that is read has no bytes of
 * arrives as zeros.  After an error a part may be done; -ECONNABORTED: done or not.
 * -ENOSYS, -EOPNOTSUPP, -EHOSTUNREACH: these iods cannot, or do not reach each other.
 */
int copy_ask(struct session *s, const struct target *t, void *arg);

#endif

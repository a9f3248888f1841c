/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seen.h - an object as stat(2) tells it: what the mgr says, and what this process
 * or the iods know beyond that of a file that is being written.
 */
#ifndef SEEN_H
#define SEEN_H

#include "client/fuse/call.h"

struct seen {
	const struct call *c;
	struct attr attr; /* of the mgr, to a request of c's */
	struct stat st;
};

/* target_op()s with a struct seen: st of attr, and attr as well. */
int seen_complete(struct session *s, const struct target *t, void *arg);
int seen_get(struct session *s, const struct target *t, void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seen.h - attributes of an object as stat(2) returns them: the manager's, completed
 * with what this process or the iods know about a file that is being written.
 */
#ifndef SEEN_H
#define SEEN_H

#include "client/fuse/call.h"

struct seen {
	const struct call *c;
	struct attr attr; /* the manager's reply to a request of c */
	struct stat st;
};

/*
 * target_op()s with a struct seen.  seen_complete() sets st from attr; seen_get()
 * fetches attr first.
 */
int seen_complete(struct session *s, const struct target *t, void *arg);
int seen_get(struct session *s, const struct target *t, void *arg);

#endif

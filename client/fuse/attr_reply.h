/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr_reply.h - attributes of an object as stat(2) returns them: the manager's, completed
 * with what this process or the iods know about a file that is being written.
 */
#ifndef ATTR_REPLY_H
#define ATTR_REPLY_H

#include "client/fuse/call.h"

struct attr_reply {
	const struct call *c;
	struct attr attr; /* the manager's reply to a request of c */
	struct stat st;
};

/*
 * target_op()s with a struct attr_reply.  attr_reply_complete() sets st from attr; attr_reply_fetch()
 * fetches attr first.
 */
int attr_reply_complete(struct session *s, const struct target *t, void *arg);
int attr_reply_fetch(struct session *s, const struct target *t, void *arg);

#endif

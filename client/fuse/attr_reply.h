/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr_reply.h - attributes in replies: their values, and how long the kernel may use
 * them.
 *
 * The values are those of stat(2): the manager's, completed with what this process or
 * the iods know about a file that is being written.
 *
 * If the kernel checks permissions, it needs the attributes of each object that a call
 * passes.  It asks again for attributes that it may not keep at all.  With cache=none
 * they get the shortest possible time, so that the reply to a LOOKUP serves the call
 * that caused it:
 *
 *	directories, symbolic links	one kernel tick
 *	files not open on this host	one tick, or until an open
 *	open files, special files	not at all: no server repeats the kernel's check of
 *					these, and programs watch an open file grow
 *
 * If old attributes let a call pass a directory, the manager checks again.
 */
#ifndef ATTR_REPLY_H
#define ATTR_REPLY_H

#include "client/fuse/call.h"

struct attr_reply {
	const struct call *c; /* the caller sets it */
	struct attr attr; /* the manager's reply to a request of c */
	struct stat st; /* for the kernel */
};

/*
 * A target_op() whose argument is a struct attr_reply: sets st from attr.  Asks the iods
 * for the size if it is not known otherwise.  Returns 0 or -errno.
 */
int attr_reply_complete(struct session *s, const struct target *t, void *arg);
/* The same, but first asks the manager for attr. */
int attr_reply_fetch(struct session *s, const struct target *t, void *arg);

/* Returns true if the kernel keeps attributes for ticks, whatever the options say. */
bool attr_reply_by_ticks(const struct fuse_daemon *d);
/* Returns the seconds for a reply with st to LOOKUP, and to requests that create names. */
double attr_reply_entry_timeout(struct fuse_daemon *d, const struct stat *st);
/* Returns the seconds for a reply with st to GETATTR, which fstat() sends too. */
double attr_reply_getattr_timeout(const struct fuse_daemon *d,
				  const struct stat *st);
/*
 * Returns for how many ns the daemon itself may rely on two facts of its cache
 * (inode_cache.h): that an inode has no extended attributes, and which attributes a directory
 * had after a change that this mount made in it.
 */
uint64_t attr_reply_timeout_ns(const struct fuse_daemon *d);

/*
 * Called when the kernel's file n was opened, before the reply.  changed: attributes of
 * a file that may have changed since the previous open, or NULL.
 */
void attr_reply_invalidate_opened(const struct fuse_daemon *d, fuse_ino_t n,
				  const struct stat *changed);

#endif

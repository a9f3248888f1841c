/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr_reply.h - attributes in replies to the kernel: their values, and how long the kernel
 * may use them.
 *
 * The values are those of stat(2).  They come from the manager.  For a file that is being
 * written, this process or the iods know some of them better.
 *
 * If the kernel checks permissions, it needs the attributes of each object on a path.  If it
 * may not keep attributes at all, it requests them again immediately after a LOOKUP.  So with
 * cache=none, it may keep some of them for the shortest possible time:
 *
 *	directories, symbolic links	one kernel tick
 *	files not open on this host	one tick, or until an open
 *	open files, special files	not at all: no server repeats the kernel's check of
 *					these, and programs watch an open file grow
 *
 * If the kernel permits a call because of old attributes, the manager still checks the call.
 */
#ifndef ATTR_REPLY_H
#define ATTR_REPLY_H

#include "client/fuse/call.h"

struct attr_reply {
	const struct call *c; /* the caller sets it */
	struct attr attr; /* the manager's reply to a request of c */
	struct stat st; /* the attributes as the kernel gets them */
};

/*
 * A target_op() whose argument is a struct attr_reply: sets st from attr.  Asks the iods
 * for the size if attr does not have it.  Returns 0 or -errno.
 */
int attr_reply_complete(struct session *s, const struct target *t, void *arg);
/* Asks the manager for attr, and then sets st as attr_reply_complete() does. */
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
 * Called when the kernel's file n was opened, before the reply: if necessary, makes the kernel
 * drop its attributes of n.  changed: the attributes of a file that may have changed since the
 * previous open; otherwise NULL.
 */
void attr_reply_invalidate_opened(const struct fuse_daemon *d, fuse_ino_t n,
				  const struct stat *changed);

#endif

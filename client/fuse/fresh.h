/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fresh.h - how long the kernel may use attributes from a reply.  If the kernel checks
 * permissions, it needs the attributes of each object that a call passes.  It asks
 * again for attributes that it may not keep at all.  With cache=none they get the
 * shortest possible time, so that the reply to a LOOKUP serves the call that caused it:
 *
 *	directories, symbolic links	one kernel tick
 *	files not open on this host	one tick, or until an open
 *	open files, special files	not at all: no server repeats the kernel's check of
 *					these, and programs watch an open file grow
 *
 * If old attributes let a call pass a directory, the manager checks again.
 */
#ifndef FRESH_H
#define FRESH_H

#include "client/fuse/attr_reply.h"

/*
 * Seconds for a reply with st: attr_reply_entry_timeout() for LOOKUP and requests that create names,
 * attr_reply_getattr_timeout() for GETATTR, which fstat() sends too.
 */
double attr_reply_entry_timeout(struct fsd *d, const struct stat *st);
double attr_reply_getattr_timeout(const struct fsd *d, const struct stat *st);

/*
 * ns for what an object lacks (lacks.h), and for a directory's attributes from its own
 * change.
 */
uint64_t attr_reply_timeout_ns(const struct fsd *d);

/*
 * Called when the kernel's file n was opened, before the reply.  changed: attributes of
 * a file that may have changed since the previous open (versions.h), or NULL.
 */
void attr_reply_invalidate_opened(const struct fsd *d, fuse_ino_t n,
				  const struct stat *changed);
/* Called after the requester created the file st, before the reply. */
void fresh_created(const struct call *c, const struct stat *st);
/*
 * Called after the requester changed the directory dir, before the reply.  dir->attr is
 * what the manager returned with the change.
 */
void fresh_changed(const struct call *c, struct attr_reply *dir);

#endif

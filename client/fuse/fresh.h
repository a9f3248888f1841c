/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fresh.h - how long the kernel may go by attributes that it was told.  Where it checks
 * permissions it wants to know those of each object that a call passes, and asks anew
 * for what it may not remember at all.  With cache=none it may for the shortest time
 * that there is, so that what a LOOKUP brought serves the call that it was for:
 *
 *	directories, symbolic links	a tick
 *	files that nobody here has open	a tick, or until somebody opens them
 *	open files, special files	not at all: nothing stands behind its check of
 *					these, and programs watch an open file grow
 *
 * What a directory lets pass by old attributes, the manager checks again.
 */
#ifndef FRESH_H
#define FRESH_H

#include "client/fuse/seen.h"

/* s, for an answer that tells st of an object: to a LOOKUP and what makes names, or to
 * a GETATTR, which fstat() sends, too. */
double fresh_entry(struct fsd *d, const struct stat *st);
double fresh_attr(const struct fsd *d, const struct stat *st);

/* ns, for what an object lacks (lacks.h), and for what a change of a directory brought
 * of it. */
uint64_t fresh_ns(const struct fsd *d);

/* File n of the kernel's is open now, and the answer to that was not yet given; changed: as
 * it is, if it need not be as at the open before (versions.h), or NULL. */
void fresh_opened(const struct fsd *d, fuse_ino_t n,
		  const struct stat *changed);
/* Who asks has made the file st, and is not answered yet. */
void fresh_created(const struct call *c, const struct stat *st);
/* ... or has changed the directory, of which the mgr said this with the change. */
void fresh_changed(const struct call *c, struct seen *dir);

#endif

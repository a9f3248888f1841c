/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syncs.h - fsync of open files.  What a disk did not take the servers tell a client once, and
 * the mount is one for all programs of its host: so it is told on to each other file
 * of that object that was open then, by that one's next fsync.
 *
 *	A	fsync |------------ EIO
 *	B	  fsync |----- ok ..... EIO: the error may have been of what B wrote
 */
#ifndef SYNCS_H
#define SYNCS_H

#include "client/lib/file/file.h"

struct syncs;

/* One fsync: the caller's, between the two calls. */
struct sync {
	struct file *f; /* syncs.c's, as all here */
	uint64_t number; /* in the order in which they began */
	LIST_ENTRY(sync) link;
};

/* NULL: there is no memory. */
struct syncs *syncs_new(void);
void syncs_free(struct syncs *s);

void syncs_begin(struct syncs *s, struct sync *x, struct file *f);
/*
 * rc: what came of the flush.  That, or what another one has met and f was not told yet: those
 * that have begun meanwhile and are not over are waited for, until then (clock_now()).
 * -ETIMEDOUT: one of them is not.
 */
int syncs_end(struct syncs *s, struct sync *x, int rc, uint64_t until);
/* The same of what a program that went past the mount was told, by f: all but that are told on.
 * False: it is no such loss. */
bool syncs_tell(struct syncs *s, struct file *f, int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wrote.h - errors of data that bypassed the mount.  The servers report them only to this
 * process' session, even if the number that wrote the data was closed meanwhile.
 */
#ifndef WROTE_H
#define WROTE_H

#include "client/preload/desc.h"

/* A file of this slot was written to.  A false entry only costs time. */
extern atomic_uchar wrote[SHORTCUT_SLOTS];

static inline void wrote_note(uint64_t handle)
{
	atomic_uchar *slot = &wrote[shortcut_slot(handle)];

	if (!atomic_load_explicit(slot, memory_order_relaxed))
		atomic_store_explicit(slot, 1, memory_order_relaxed);
}

/* In a child after fork(): the writes were the parent's. */
void wrote_forked(void);
/* True: the number refers to such a file. */
bool wrote_is(int fd);
/* As desc_look(), for a file that is no longer open: opens it for this purpose. */
bool wrote_look(int fd, struct use *u);
/*
 * Called after a flush through the mount ended with rc (0 or -errno).  Returns rc, or the
 * error that the servers report to us.  Reports that error to the mount, for its other
 * open files.
 */
int wrote_sync(struct use *u, int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * written_files.h - the files that this process has written past a mount.  The servers
 * report errors of such data only to this process' session, even if the number that wrote
 * the data was closed meanwhile.
 */
#ifndef WRITTEN_FILES_H
#define WRITTEN_FILES_H

#include "client/preload/bypass/desc.h"

struct written_files {
	/* A file of this slot was written to.  A false entry only costs time. */
	atomic_uchar slot[SHORTCUT_SLOTS];
};

static inline void written_files_add(struct written_files *w, uint64_t handle)
{
	atomic_uchar *slot = &w->slot[shortcut_slot(handle)];

	if (!atomic_load_explicit(slot, memory_order_relaxed))
		atomic_store_explicit(slot, 1, memory_order_relaxed);
}

/* True: the number refers to such a file. */
bool written_files_have(const struct written_files *w, int fd);
/*
 * As desc_find(), for a file that is no longer open: opens it for this purpose.  False: it
 * was not written past a mount, or cannot be opened now.
 */
bool written_files_open(const struct written_files *w,
			struct fuse_mounts *mounts, int fd,
			struct desc_use *use);
/*
 * Flushes use->f.  Called after a flush through the mount ended with rc (0 or -errno).
 * Returns rc, or the error that the servers report to us.  Reports that error to the
 * mount, for its other open files.
 */
int written_files_sync(struct desc_use *use, int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * written_files.h - the files that this process has written without their mount.  If a disk fails
 * to store such data, the servers report that only to the session of this process.  So an fsync
 * must ask them, even if the descriptor that wrote the data is closed.
 */
#ifndef WRITTEN_FILES_H
#define WRITTEN_FILES_H

#include "client/preload/bypass/desc.h"

struct written_files {
	/*
	 * Not 0: a file with this slot was written.  Files may share a slot; this only causes an
	 * unnecessary question to the servers.
	 */
	atomic_uchar slot[SHORTCUT_SLOTS];
};

static inline void written_files_add(struct written_files *w, uint64_t handle)
{
	atomic_uchar *slot = &w->slot[shortcut_slot(handle)];

	if (!atomic_load_explicit(slot, memory_order_relaxed))
		atomic_store_explicit(slot, 1, memory_order_relaxed);
}

/* Whether the descriptor fd refers to a file that this process may have written. */
bool written_files_have(const struct written_files *w, int fd);
/*
 * desc_find() for a file that the session no longer has open: opens it again.  Returns false if
 * this process has not written the file without its mount, or cannot open it now.
 */
bool written_files_open(const struct written_files *w,
			struct fuse_mounts *mounts, int fd,
			struct desc_use *use);
/*
 * Called after a flush through the mount has returned rc (0 or -errno): also flushes use->f.  If
 * the servers report an error to this session, passes it to the mount, which then reports it
 * through its other open files.  Returns rc or that error.
 */
int written_files_sync(struct desc_use *use, int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsynced.h - the files that this process has written and not flushed since, with the
 * iod_boots_now() of the first such write.  If the host of an iod loses power, unflushed data
 * is lost, and only the client that wrote it can know.  The next fsync of the file reports the
 * loss once, through any descriptor, even one that was opened later.
 */
#ifndef UNSYNCED_H
#define UNSYNCED_H

#include <errno.h>

#include "client/lib/file/file.h"

/* Maximum number of files of a mount.  Beyond it, the oldest entry is dropped. */
#define UNSYNCED_MAX 65536u

/*
 * Called before a write with these flags (WIRE_IO_*).  The caller passes the result to
 * file_record_write().  0: the write itself flushes its data.
 */
static inline unsigned int unsynced_since(const struct file *f, uint32_t flags)
{
	if (flags & WIRE_IO_SYNC)
		return 0;
	return f->fs ? iod_boots_now(&f->fs->boots) : 1;
}

/* Records a completed write that began at since. */
void unsynced_wrote(struct file *f, unsigned int since);

/*
 * Begins a flush of the whole file, and returns the value for unsynced_end().  A write during
 * the flush may or may not be covered.
 */
unsigned int unsynced_take(struct file *f);
/*
 * Ends the flush that returned rc.  taken is the result of unsynced_take().  Returns rc, or
 * -EIO, logged, if data written before the flush may be lost.
 */
int unsynced_end(struct file *f, unsigned int taken, int rc);

/* Whether f has been written since the last flush, as far as f knows. */
static inline bool unsynced_has(struct file *f)
{
	return atomic_load(&f->unsynced);
}

/* Returns true if the result rc of a flush means that data is lost: an iod reports that once. */
static inline bool unsynced_is_loss(int rc)
{
	return rc == -EIO || rc == -ENOSPC || rc == -EDQUOT;
}

/* Frees the table.  No file of the mount is open. */
void unsynced_free(struct fs *fs);

#endif

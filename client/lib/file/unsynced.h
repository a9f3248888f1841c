/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsynced.h - the files that this process has written and not flushed since, with the
 * time of the first such write.  Data only in the memory of an iod is lost when its host
 * loses power, and only the writer can report that.  The next fsync reports it once,
 * through any descriptor; close forgets nothing.
 */
#ifndef UNSYNCED_H
#define UNSYNCED_H

#include <errno.h>

#include "client/lib/file/file.h"

/* Maximum number of files of a mount.  Beyond it, the oldest entry is dropped. */
#define UNSYNCED_MAX 65536u

/*
 * Called before a write with these flags (WIRE_IO_*); the result is for file_record_write().  0:
 * the write is also flushed.
 */
static inline unsigned int unsynced_since(const struct file *f, uint32_t flags)
{
	if (flags & WIRE_IO_SYNC)
		return 0;
	return f->fs ? iod_boots_now(&f->fs->boots) : 1;
}

/* Records a completed write that began at since. */
void unsynced_wrote(struct file *f, unsigned int since);

/* Begins a flush of the whole file.  Data written meanwhile may or may not be part of it. */
unsigned int unsynced_take(struct file *f);
/*
 * Ends the flush.  taken: from unsynced_take().  Returns rc, the result of the flush, or
 * -EIO, logged: part of what was taken may be lost.
 */
int unsynced_end(struct file *f, unsigned int taken, int rc);

/* True: as far as f knows, the file was written and not flushed since. */
static inline bool unsynced_has(struct file *f)
{
	return atomic_load(&f->unsynced);
}

/*
 * True: this result of a flush means that data is lost, and that the iod does not report
 * it again.
 */
static inline bool unsynced_is_loss(int rc)
{
	return rc == -EIO || rc == -ENOSPC || rc == -EDQUOT;
}

/* Frees the table.  No file of the mount is open. */
void unsynced_free(struct fs *fs);

#endif

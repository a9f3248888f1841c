/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsynced.h - which files this process has written to and not flushed since, and when: what
 * an iod has in memory alone is gone when its host loses power, and only who wrote it is there
 * to say so. The next fsync does, once, through whichever descriptor; closing forgets nothing.
 */
#ifndef UNSYNCED_H
#define UNSYNCED_H

#include <errno.h>

#include "client/lib/file/file.h"

/* Files of a mount that are known; behind so many others the first one is forgotten. */
#define UNSYNCED_MAX 65536u

/* Before a write with these flags (WIRE_IO_*), for file_wrote().  0: it is flushed, too. */
static inline unsigned int unsynced_since(const struct file *f, uint32_t flags)
{
	if (flags & WIRE_IO_SYNC)
		return 0;
	return f->fs ? lives_now(&f->fs->lives) : 1;
}

/* What was begun then has been written. */
void unsynced_wrote(struct file *f, unsigned int since);

/* Around a flush of all of it.  What is written meanwhile may or may not be part of it. */
unsigned int unsynced_take(struct file *f);
/* taken: by the former.  rc: what came of the flush; or -EIO, which is logged: something of
 * what was taken may be lost. */
int unsynced_end(struct file *f, unsigned int taken, int rc);

/* It was written to, and not flushed since: as far as f knows. */
static inline bool unsynced_has(struct file *f)
{
	return atomic_load(&f->unsynced);
}

/* Of a flush: something is lost, and nobody else will hear of it from there. */
static inline bool unsynced_is_loss(int rc)
{
	return rc == -EIO || rc == -ENOSPC || rc == -EDQUOT;
}

/* Nobody has files of it any more. */
void unsynced_free(struct fs *fs);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.h - advisory locks, which the mgr keeps: record locks of the process
 * (POSIX), of the open file (OFD), and flock(2).
 *
 * An owner is a number: 0 is the process, every open file that locks gets its
 * own.  Locks end with the session; one that the mgr ended because it was away
 * for too long has lost them.
 */
#ifndef LOCK_H
#define LOCK_H

#include <fcntl.h>

#include "file.h"

/* cmd: F_GETLK, F_SETLK, F_SETLKW or their F_OFD_ forms, on a PVFS file; 0 or
 * -errno. */
int lock_fcntl(struct file *f, int cmd, struct flock *lk);
/* operation as of flock(2). */
int lock_flock(struct file *f, int operation);
/* f is new, the process may have locks on the file, or have lost them;
 * fs->files_lock is held. */
void lock_opened(struct file *f);
/* Some may have been held in another session than this one; f->lock is. */
bool lock_lost(const struct file *f, uint64_t session);
/* That is logged, once; f->lock is held. */
void lock_say_lost(struct file *f, const struct session *s);
/*
 * Before what t names is cut, under s: -ESTALE if the process has lost record
 * locks on it.  Those of an open file, and flock(2), bind that one alone.
 */
int lock_check_cut(struct fs *fs, struct session *s, const struct target *t);
/* A descriptor of f is closed: the process' locks on that file end. */
void lock_closed(struct file *f);
/* Nobody uses f any more: its own locks end. */
void lock_dropped(struct file *f);

#endif

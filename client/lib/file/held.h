/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.h - which advisory locks the process has through its open files, as far
 * as opening, moving, cutting and closing a file go by that.  lock.h asks for
 * them.
 *
 * An owner is a number: 0 is the process, every open file that locks gets its
 * own.  Locks end with the session; one that the mgr ended because it was away
 * for too long has lost them.
 */
#ifndef HELD_H
#define HELD_H

#include "client/lib/file/file.h"

/* The number of an open file as an owner: no other one of the process has it. */
uint64_t file_owner(struct file *f);

/* The mgr gave lock, or took it back.  The process' locks count for whatever
 * descriptors of the file it has. */
void lock_note(struct file *f, const struct mgr_lock *lock);
/* The process' locks on that file are gone.  True: some descriptor of it was
 * used to lock for the process. */
bool lock_forget(struct file *f);
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
/* Nobody uses f any more: its own locks end. */
void lock_dropped(struct file *f);

/* With f->lock: before s it was open in a session that was evicted, and ends with that;
 * says so once. */
bool file_is_evicted(struct file *f, const struct session *s);

#endif

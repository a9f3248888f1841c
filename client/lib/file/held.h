/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.h - the advisory locks that the process has through its open files, as far as
 * open, move, truncate and close depend on them.  lock.h requests them.
 *
 * An owner is a number: 0 is the process, and each open file that locks gets its own.
 * Locks end with the session.  If the manager ends the session because the client was
 * disconnected for too long, the locks are lost.
 */
#ifndef HELD_H
#define HELD_H

#include "client/lib/file/file.h"

/* Returns the owner number of an open file, unique in the process. */
uint64_t file_owner(struct file *f);

/*
 * Records that the manager granted or released lock.  Locks of the process count for all
 * its descriptors of the file.
 */
void lock_record(struct file *f, const struct mgr_lock *lock);
/*
 * Forgets the process' locks on the file.  True: one of its descriptors was used to lock
 * for the process.
 */
bool lock_forget(struct file *f);
/*
 * Called for a new f: the process may have locks on the file, or may have lost them.
 * fs->files_lock is held.
 */
void lock_copy_process(struct file *f);
/* True: locks may have been held in a session other than this one.  f->lock is held. */
bool lock_is_lost(const struct file *f, uint64_t session);
/* Logs the loss once.  f->lock is held. */
void lock_log_lost(struct file *f, const struct session *s);
/*
 * Called before the object that t names is truncated under s.  -ESTALE: the process has
 * lost record locks on it.  Locks of an open file, and flock(2), affect only that open
 * file.
 */
int lock_check_cut(struct fs *fs, struct session *s, const struct target *t);
/* Releases the locks of f itself.  No thread uses f. */
void lock_release_own(struct file *f);

/*
 * True: f was open in an earlier session that was evicted; f fails from now on.  Logged
 * once.  f->lock is held.
 */
bool file_is_evicted(struct file *f, const struct session *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.h - a record of the advisory locks that the process has.  Opening, truncating and
 * closing a file, and moving it to another session, depend on them.  lock.h requests locks.
 *
 * The owner of a lock is a number: 0 for the process; each open file gets a number of its own.
 * Locks end with the session.  If the manager ends the session because the client was
 * disconnected for too long, the locks are lost.
 */
#ifndef HELD_H
#define HELD_H

#include "client/lib/file/file.h"

/* Returns the owner number of an open file, unique in the process. */
uint64_t file_owner(struct file *f);

/*
 * Records that the manager granted or released lock.  A lock of the process is recorded in all
 * its open files of that handle.
 */
void lock_record(struct file *f, const struct mgr_lock *lock);
/*
 * Removes the record of the process' locks on the file.  Returns true if the process took locks
 * through one of its descriptors of the file.
 */
bool lock_forget(struct file *f);
/*
 * Copies to the new f what other open files record of the process' locks on this file.  The
 * caller holds fs->files_lock.
 */
void lock_copy_process(struct file *f);
/* Whether locks on f may have been held in another session, and so are lost. f->lock is held. */
bool lock_is_lost(const struct file *f, uint64_t session);
/* Logs the loss once.  f->lock is held. */
void lock_log_lost(struct file *f, const struct session *s);
/*
 * Called before the object that t names is truncated by its path under s.  Returns 0, or
 * -ESTALE: the process has lost record locks on it.  Locks of an open file, and of flock(2), do
 * not matter here, because the truncation does not use that open file.
 */
int lock_check_cut(struct fs *fs, struct session *s, const struct target *t);
/* Releases the locks of f itself.  No thread uses f. */
void lock_release_own(struct file *f);

/*
 * Returns true if an administrator evicted the earlier session in which f was open, so that all
 * calls on f must fail; logs this once.  s is the present session.  The caller holds f->lock.
 */
bool file_is_evicted(struct file *f, const struct session *s);

#endif

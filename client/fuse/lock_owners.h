/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_owners.h - records which owners have taken record locks on which files, and through which
 * open files; sends the requests for these locks.
 *
 * When a process closes a descriptor, all its POSIX locks on the file must be released, through
 * whichever descriptor they were taken.  The kernel sends FLUSH at each close, and the record
 * tells whether that concerns locks.  OFD locks end with their open file.  The kernel does not
 * tell the daemon which locks are OFD locks, nor their owner at RELEASE.  So at RELEASE, the
 * daemon releases all locks that were taken through the open file.  POSIX locks are not affected,
 * because they ended at the close before.
 */
#ifndef LOCK_OWNERS_H
#define LOCK_OWNERS_H

#include "client/lib/file/file.h"

struct lock_owners;

/* Returns NULL if there is no memory. */
struct lock_owners *lock_owners_new(void);
void lock_owners_free(struct lock_owners *o);

/*
 * Called before owner requests a lock through f.  Waits while locks of the same owner number are
 * being released, because the kernel reuses the number immediately.  Returns 0; -ENOMEM; or
 * -ETIMEDOUT: the release takes too long.
 */
int lock_owners_add(struct lock_owners *o, struct file *f, uint64_t owner);
/* Called when a descriptor is closed: releases all locks of owner on the file. */
void lock_owners_drop(struct lock_owners *o, struct file *f, uint64_t owner);
/* The last descriptor of f is closed: releases the locks taken through f. */
void lock_owners_release(struct lock_owners *o, struct file *f);
/* Called when the last descriptor of f is closed: releases its flock(2) lock. */
void lock_owners_release_flock(struct file *f);

/*
 * Sends LOCK to the manager, and records the result in f (held.h).  Sets *lock to the manager's
 * reply, and lock->session to the session of the request.  Returns 0 or -errno.
 */
int lock_owners_send_lock(struct file *f, struct mgr_lock *lock);

#endif

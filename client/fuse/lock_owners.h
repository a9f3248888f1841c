/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_owners.h - which owners took record locks on which files, through which open
 * files; and the requests for these locks.
 *
 * A close releases all POSIX locks that its process has on the file, through whatever
 * descriptor they were taken.  The kernel sends FLUSH at each close, and few of these
 * concern locks.  OFD locks end with their open file.  The kernel does not say that a
 * lock is an OFD lock, nor, at RELEASE, who owned it.  So RELEASE releases everything
 * that was locked through the open file; its POSIX locks ended before.
 */
#ifndef LOCK_OWNERS_H
#define LOCK_OWNERS_H

#include "client/lib/file/file.h"

struct lock_owners;

/* Returns NULL if there is no memory. */
struct lock_owners *lock_owners_new(void);
void lock_owners_free(struct lock_owners *o);

/*
 * Called before owner requests a lock through f.  Waits while locks of the same owner
 * are being released, because the kernel reuses the number immediately.  Returns 0,
 * -ENOMEM or -ETIMEDOUT.
 */
int lock_owners_add(struct lock_owners *o, struct file *f, uint64_t owner);
/* A descriptor is closed: releases all locks of owner on the file. */
void lock_owners_drop(struct lock_owners *o, struct file *f, uint64_t owner);
/* The last descriptor of f is closed: releases the locks taken through f. */
void lock_owners_release(struct lock_owners *o, struct file *f);
/* The same for flock(2). */
void lock_owners_release_flock(struct file *f);

/*
 * Sends LOCK to the manager, and records the result in f (held.h).  Returns 0 or -errno;
 * *lock has the manager's reply, and the session in which it was sent.
 */
int lock_owners_send_lock(struct file *f, struct mgr_lock *lock);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners.h - which owners took record locks on which files, through which open files.
 *
 * A close drops all POSIX locks that its process has on the file, through whatever
 * descriptor they were taken.  The kernel sends FLUSH at each close, and few of these
 * concern locks.  OFD locks end with their open file.  The kernel does not say that a
 * lock is an OFD lock, nor, at RELEASE, who owned it.  So RELEASE drops everything that
 * was locked through the open file; its POSIX locks ended before.
 */
#ifndef OWNERS_H
#define OWNERS_H

#include "client/lib/file/file.h"

struct owners *owners_new(void);
void owners_free(struct owners *o);

/*
 * Records that owner takes a lock through f.  Waits while locks of the same owner are
 * being released, because the kernel reuses the number immediately.  0, -ENOMEM or
 * -ETIMEDOUT.
 */
int owners_note(struct owners *o, struct file *f, uint64_t owner);
/* A descriptor is closed: drops all locks of owner on the file. */
void owners_drop(struct owners *o, struct file *f, uint64_t owner);
/* The last descriptor of f is closed: drops the locks taken through f. */
void owners_release(struct owners *o, struct file *f);
/* The same for flock(2). */
void owners_release_whole(struct file *f);

/*
 * Sends LOCK for an owner of the kernel, and records the result (held.h).  0 or -errno.
 */
int owners_lock(struct file *f, struct mgr_lock *lock);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners.h - which owners took record locks on which files, and through which open files.
 * A close drops all POSIX locks that its process has on the file, through
 * whatever descriptor they were taken; the kernel says FLUSH at each close, and only few of
 * these concern locks.  Locks of an open file (OFD) end with that, and the kernel says
 * neither that a lock is one of these nor, at the RELEASE, whose they were.  So at
 * the RELEASE all ends that was locked through it: the POSIX locks of these did before.
 */
#ifndef OWNERS_H
#define OWNERS_H

#include "client/lib/file/file.h"

struct owners *owners_new(void);
void owners_free(struct owners *o);

/*
 * owner takes a lock through f.  Waits if the same number is just being released: the
 * kernel gives it to another open file at once.  -ENOMEM, -ETIMEDOUT.
 */
int owners_note(struct owners *o, struct file *f, uint64_t owner);
/* A descriptor is closed: whatever owner has there ends. */
void owners_drop(struct owners *o, struct file *f, uint64_t owner);
/* The last descriptor of f is closed. */
void owners_release(struct owners *o, struct file *f);
/* ... that was used for flock(2), too. */
void owners_release_whole(struct file *f);

/* LOCK for an owner of the kernel's, and what is noted of it (held.h). */
int owners_lock(struct file *f, struct mgr_lock *lock);

#endif

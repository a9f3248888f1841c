/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners.h - which owners took POSIX locks on which files.  A close drops all that
 * its process has on the file, through whatever descriptor they were taken; the
 * kernel says FLUSH at each close, and only few of these concern locks.
 */
#ifndef OWNERS_H
#define OWNERS_H

#include "file.h"

struct owners *owners_new(void);
void owners_free(struct owners *o);

/* owner takes a lock on f's file.  -ENOMEM. */
int owners_note(struct owners *o, const struct file *f, uint64_t owner);
/* A descriptor is closed: whatever owner has there ends. */
void owners_drop(struct owners *o, struct file *f, uint64_t owner);
/* The last descriptor of an open file that was used for flock(2) is closed. */
void owners_drop_whole(struct file *f, uint64_t owner);

/* LOCK for an owner of the kernel's, and what is noted of it (held.h). */
int owners_lock(struct file *f, struct mgr_lock *lock);

#endif

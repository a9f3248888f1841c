/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.h - advisory locks, which the manager stores: record locks of the process (POSIX),
 * of the open file (OFD), and flock(2).
 */
#ifndef LOCK_H
#define LOCK_H

#include <fcntl.h>

#include "client/lib/file/file.h"

/*
 * cmd: F_GETLK, F_SETLK, F_SETLKW or their F_OFD_ forms, on a PVFS file.  Returns 0 or
 * -errno.
 */
int lock_fcntl(struct file *f, int cmd, struct flock *lk);
/* operation is as in flock(2).  Returns 0 or -errno. */
int lock_flock(struct file *f, int operation);
/*
 * Called when a descriptor of f is closed: releases the record locks of the process on
 * the file.
 */
void lock_closed(struct file *f);

#endif

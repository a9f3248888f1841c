/* SPDX-License-Identifier: BSD-2-Clause */
/* locks.h - the end of a request for a lock. */
#ifndef LOCKS_H
#define LOCKS_H

#include "client/fuse/call.h"

/*
 * Answers c with rc.  0: f has the lock.  Before the caller continues, the kernel drops
 * what it keeps of the file, because another lock holder may have changed it.
 */
void locks_end(const struct call *c, struct file *f, int rc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_ask_int.h - asking the manager for a lock, and waiting if necessary. */
#ifndef LOCK_ASK_INT_H
#define LOCK_ASK_INT_H

#include "client/lib/file/file.h"
#include "client/lib/names/mgr.h"

/*
 * Takes, releases or tests lock (WIRE_L_*).  Sets its session and, with WIRE_L_TEST, the
 * lock that conflicts.  -EAGAIN: there is a conflict, and WIRE_L_WAIT is not set.
 * -EINTR: a signal handler installed without SA_RESTART ran, and the lock was not taken.
 */
int lock_ask(struct file *f, struct mgr_lock *lock);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_ask_int.h - asking the mgr for a lock, and waiting if need be. */
#ifndef LOCK_ASK_INT_H
#define LOCK_ASK_INT_H

#include "client/lib/file/file.h"
#include "client/lib/names/mgr.h"

/*
 * Takes, lets go or tests lock (WIRE_L_*); its session is set, and with
 * WIRE_L_TEST what is in the way.  -EAGAIN: something is in the way, and
 * WIRE_L_WAIT is not set.  -EINTR: a signal's handler ran that was installed
 * without SA_RESTART, and the lock was not taken.
 */
int lock_ask(struct file *f, struct mgr_lock *lock);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_waits.h - LOCK and LOCK_ANY, and requests that wait for a lock. */
#ifndef LOCK_WAITS_H
#define LOCK_WAITS_H

#include "op.h"

op_fn op_lock, op_lock_any;

/* -ENOMEM */
int lock_waits_open(struct mgr *mgr);
void lock_waits_close(struct mgr *mgr);
/* Something of the file was let go: who waits for it looks again in
 * lock_waits_run(), outside of all transactions. */
void lock_waits_wake(struct mgr *mgr, uint64_t handle);
void lock_waits_run(struct mgr *mgr);

#endif

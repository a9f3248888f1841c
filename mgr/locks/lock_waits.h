/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_waits.h - LOCK and LOCK_ANY, and requests that wait for a lock. */
#ifndef LOCK_WAITS_H
#define LOCK_WAITS_H

#include "mgr/request/request_op.h"

op_fn op_lock, op_lock_any;

/* Returns 0 or -ENOMEM. */
int lock_waits_open(struct mgr *mgr);
void lock_waits_close(struct mgr *mgr);
/*
 * Moves some of the waits that may check again to the run queue. Call it in the event loop, outside
 * of transactions. Returns true if there are more.
 */
bool lock_waits_run(struct mgr *mgr);
/* Ends the wait of a request whose req->lock_wait is set. */
void lock_wait_end(struct request *req);

#endif

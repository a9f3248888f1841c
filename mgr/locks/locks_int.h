/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_int.h - requests that wait for any of several locks; lock.c tells them
 * what becomes free. */
#ifndef LOCKS_INT_H
#define LOCKS_INT_H

#include "lock_waits.h"

int any_waits_open(struct mgr *mgr);
void any_waits_close(struct mgr *mgr);
/* As lock_waits_wake() and lock_waits_run(); true: there was something to look at. */
void any_waits_wake(struct mgr *mgr, uint64_t handle);
bool any_waits_run(struct mgr *mgr);
/* Those of op's session with just the lock that op names end with EINTR. */
void any_waits_cancel(struct op *op);

/* ---- lock.c ---- */

/* Until when a request waits: its answer must be there before its client stops. */
uint64_t lock_until(const struct request *req, uint32_t most_ms);
/* Its client may be dead: what it would be given, nobody would let go. */
bool lock_away(const struct request *req);
/* One wait and its cancellation. */
bool lock_same(const struct wire_lock *a, const struct wire_lock *b);
struct ns_lock_args lock_args(const struct op *op, const struct wire_lock *l);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict.h - EVICT: an administrator ends sessions, and is answered when nothing of them
 * counts any more; SESSIONS, which shows them.
 *
 *   EVICT --> the session is closed as one that stayed away --> fence, row, iods (session.h)
 *         --> its row is gone, and each iod that runs has the fence --> answer
 *
 * One that changed nothing gets a row, so that this is so for it, too.  What is not there
 * in time is told as such, and goes on.
 */
#ifndef EVICT_H
#define EVICT_H

#include "mgr/request/op.h"

op_fn op_evict, op_sessions;

/* -ENOMEM */
int evicts_open(struct mgr *mgr);
void evicts_close(struct mgr *mgr);
/* It is among those that are being evicted. */
bool evict_wants(struct mgr *mgr, uint64_t session);

#endif

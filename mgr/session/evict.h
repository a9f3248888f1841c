/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict.h - EVICT: an administrator ends sessions.  The reply is sent once the sessions have no
 * effect any more.  SESSIONS lists sessions.
 *
 *   EVICT --> the session is closed as if it had timed out --> fence, row, iods (session_table.h)
 *         --> its row is gone, and each iod that runs has the fence --> answer
 *
 * A session that changed nothing has no row; it gets one, so that it ends in the same way. If
 * the eviction is not complete in time, the reply says what is left, and the eviction
 * continues.
 */
#ifndef EVICT_H
#define EVICT_H

#include "mgr/request/request_op.h"

op_fn op_evict, op_sessions;

/* -ENOMEM */
int evicts_open(struct mgr *mgr);
void evicts_close(struct mgr *mgr);
/* Whether the session is being evicted. */
bool eviction_includes(struct mgr *mgr, uint64_t session);

#endif

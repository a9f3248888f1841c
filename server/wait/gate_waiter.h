/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate_waiter.h - requests for objects with a late change in progress.  They begin when no change
 * of the object is late any more (gate.h).  At their deadline they fail with -ETIMEDOUT.  A
 * request that may not wait that long is answered -EINPROGRESS earlier (rpc_req_may_wait()).
 */
#ifndef GATE_WAITER_H
#define GATE_WAITER_H

#include "server/state/worker.h"

/* True: the request waits, or was answered -ENOMEM.  False: there is nothing to wait for. */
bool gate_waiter_start(struct worker *w, struct rpc_req *req, uint64_t handle);
/* At the end of the iod: frees the requests without an answer. */
void gate_waiters_free(struct worker *w);

#endif

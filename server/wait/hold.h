/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold.h - requests for objects with a late change in progress.  They begin when no change of
 * the object is late any more (gate.h).  At their deadline they fail with -ETIMEDOUT.  A
 * request that may not wait that long is answered -EINPROGRESS earlier (rpc_req_may_wait()).
 */
#ifndef HOLD_H
#define HOLD_H

#include "server/state/worker.h"

/* True: the request is held, or was answered -ENOMEM.  False: there is nothing to wait for. */
bool hold_request(struct worker *w, struct rpc_req *req, uint64_t handle);
/* At the end of the iod: frees the requests without an answer. */
void hold_free_all(struct worker *w);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate_waiter.h - requests that wait because a change of their object is late (gate.h).  They are
 * executed when no change of the object is late any more.  At their deadline they fail with
 * -ETIMEDOUT.  A request that may not wait so long is answered -EINPROGRESS earlier
 * (rpc_req_may_wait()).
 */
#ifndef GATE_WAITER_H
#define GATE_WAITER_H

#include "server/state/worker.h"

/*
 * Called on w's thread.  True: the request waits, or was answered with -ENOMEM; the caller does
 * nothing more with it.  False: no change of the object is late, and the caller executes the
 * request.
 */
bool gate_waiter_start(struct worker *w, struct rpc_req *req,
		       struct object_key key);
/* At the end of the iod: frees the requests without an answer. */
void gate_waiters_free(struct worker *w);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold.h - requests for objects that a late change is still being made of: they
 * begin when that is done (gate.h), or end with -ETIMEDOUT at their own deadline.
 */
#ifndef HOLD_H
#define HOLD_H

#include "server/state/worker.h"

/* True: it is held, or was answered -ENOMEM.  False: there is nothing to wait for. */
bool hold_request(struct worker *w, struct rpc_req *req, uint64_t handle);
/* At the end of the iod: nobody answers them. */
void hold_free_all(struct worker *w);

#endif

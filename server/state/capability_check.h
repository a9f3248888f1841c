/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capability_check.h - whether a client may do what its request asks for, by the capabilities
 * that it shows now or has shown before.
 */
#ifndef CAPABILITY_CHECK_H
#define CAPABILITY_CHECK_H

#include "server/state/worker.h"

/*
 * Returns 0 if the request is allowed, or the status for the client: -ENOKEY, -EKEYREVOKED or
 * -EKEYREJECTED (wire.h), or -EOPNOTSUPP if the operation is not available to clients that need
 * capabilities.  These refusals are counted, and logged at a limited rate.  -ENOMEM is neither.
 * Called on the session's thread.
 */
int capability_check(struct iod_session *ses, const struct rpc_req *req);
/*
 * Returns when the session's right (WIRE_NEED_*) to the object ends, clock_boot().  0: it has no
 * such right.  UINT64_MAX: it needs no capability.
 */
uint64_t capability_until(const struct iod_session *ses, uint64_t handle,
			  unsigned int right);
/* At the start: logs what users can do if access is not checked. */
void capability_log_settings(const struct iod *iod);
/* Adds rows of the requests that were refused. */
void capability_metrics(const struct iod *iod, struct rpc_metrics *metrics);

#endif

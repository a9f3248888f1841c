/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capability_check.h - whether a client may do what its request asks for, by the capabilities
 * that it shows now or has shown before.
 */
#ifndef CAPABILITY_CHECK_H
#define CAPABILITY_CHECK_H

#include "server/state/worker.h"

/*
 * 0: allowed.  Otherwise the status for the client; the refusal is counted, and logged at a
 * limited rate: -ENOKEY, -EKEYREVOKED, -EKEYREJECTED (wire.h).  -EOPNOTSUPP: not available to
 * clients that need capabilities.  -ENOMEM: not counted.
 */
int capability_check(struct iod_session *ses, const struct rpc_req *req);
/* When the session's right ends, clock_boot(); 0: it has none; UINT64_MAX: it needs none. */
uint64_t capability_until(const struct iod_session *ses, uint64_t handle,
			  unsigned int right);
/* At the start: logs what users can do if access is not checked. */
void capability_log_settings(const struct iod *iod);
/* Adds rows of the requests that were refused. */
void capability_metrics(const struct iod *iod, struct rpc_metrics *metrics);

#endif

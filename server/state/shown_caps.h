/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shown_caps.h - whether a client may do what its request asks for: by the capabilities
 * that it shows, and showed before.
 */
#ifndef SHOWN_CAPS_H
#define SHOWN_CAPS_H

#include "server/state/worker.h"

/*
 * 0.  Else what the client is to be told, which is in the log and counted: -ENOKEY,
 * -EKEYREVOKED, -EKEYREJECTED (wire.h); -EOPNOTSUPP: it is done for nobody who needs
 * capabilities; -ENOMEM.
 */
int caps_check(struct iod_session *ses, const struct rpc_req *req);
/* Until when the session has that right, clock_boot(); UINT64_MAX: it needs none. */
uint64_t caps_until(const struct iod_session *ses, uint64_t handle,
		    unsigned int right);
/* At the start, what users could do who do not keep to the rules; and for SIGUSR1. */
void caps_say(const struct iod *iod);
void caps_report(const struct iod *iod);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* managers_service.h - MANAGERS: the state of the group of managers, and changes of it. */
#ifndef MANAGERS_SERVICE_H
#define MANAGERS_SERVICE_H

#include "mgr/state/mgr_state.h"

/*
 * If the request is a MANAGERS, answers it, now or later, and returns true. The session may be of a
 * client, or of another manager, which has no struct caller.
 */
bool managers_handle_request(struct mgr *mgr, struct rpc_req *rpc);
/* Call it before the server is closed. Gives up a request that waits. */
void managers_service_stop(struct mgr *mgr);

#endif

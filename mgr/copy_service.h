/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_service.h - FETCH: sends a copy of the database to another manager, which is filled with it.
 */
#ifndef COPY_SERVICE_H
#define COPY_SERVICE_H

#include "mgr/state/mgr_state.h"

/* If the request is a FETCH of another manager, answers it, now or later, and returns true. */
bool copy_service_handle_request(struct mgr *mgr, struct rpc_req *rpc);
/* Returns the bytes of the copy that were sent to this member, or 0 if it gets no copy now. */
uint64_t copy_service_sent(const struct mgr *mgr, uint64_t member);
/* Call it before the server is closed. Ends the copy. */
void copy_service_stop(struct mgr *mgr);
/* Call it after the server is closed. */
void copy_service_close(struct mgr *mgr);

#endif

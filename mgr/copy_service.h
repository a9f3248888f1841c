/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_service.h - FETCH: sends a copy of the database to another manager, which is filled with it.
 */
#ifndef COPY_SERVICE_H
#define COPY_SERVICE_H

#include "mgr/state/mgr_state.h"

/* If it is a FETCH of another manager, answers it, now or later, and returns true. */
bool copy_service_handle_request(struct mgr *mgr, struct rpc_req *rpc);
/* The bytes of the copy that were sent to this member; 0: it gets none now. */
uint64_t copy_service_sent(const struct mgr *mgr, uint64_t member);
/* Before the server is closed: ends the copy. */
void copy_service_stop(struct mgr *mgr);
/* After the server is closed. */
void copy_service_close(struct mgr *mgr);

#endif

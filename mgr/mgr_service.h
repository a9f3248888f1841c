/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_service.h - sessions and requests of clients. */
#ifndef MGR_SERVICE_H
#define MGR_SERVICE_H

#include "mgr/state/mgr_state.h"

/*
 * mgr_service is for the requests of clients to a single manager, mgr_member_service for those to a
 * manager of a group. The argument of the functions is the struct mgr.
 */
extern const struct rpc_service mgr_service, mgr_member_service;

/* Does the work of rpc_service.metrics(): metrics.c. */
void service_metrics(void *arg, struct rpc_metrics *metrics);

/*
 * request_take() accepts a checked request from the network. The other function runs one turn of a
 * request of mgr->queue. Both are in request_execution.c.
 */
void request_take(struct mgr *mgr, struct rpc_req *rpc);
struct run_item;
uint64_t request_turn(struct run_item *item);

#endif

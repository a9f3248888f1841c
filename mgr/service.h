/* SPDX-License-Identifier: BSD-2-Clause */
/* service.h - what comes from clients: sessions, and requests, which are run. */
#ifndef SERVICE_H
#define SERVICE_H

#include "mgr/state/mgr_state.h"

/* Its argument is the mgr. */
extern const struct rpc_service mgr_service;

/* rpc_service.metrics(): inside.c */
void service_metrics(void *arg, struct rpc_metrics *metrics);

/* run.c: a checked request from the wire; and a turn of one, from mgr->queue. */
void request_take(struct mgr *mgr, struct rpc_req *rpc);
struct run_item;
uint64_t request_turn(struct run_item *item);

#endif

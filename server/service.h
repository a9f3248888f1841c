/* SPDX-License-Identifier: BSD-2-Clause */
/* service.h - the progress threads of an iod, and what comes to them from clients. */
#ifndef SERVICE_H
#define SERVICE_H

#include "server/state/worker.h"

/* ---- worker.c ---- */

/* -ENOMEM, or as rpc_ctx_open() */
int worker_open(struct worker *w, struct iod *iod);
int worker_start(struct worker *w);
void worker_join(struct worker *w);
/* After rpc_server_close(). */
void worker_close(struct worker *w);

/* ---- service.c ---- */

/* Its argument is the iod. */
extern const struct rpc_service iod_service;
/* loan_table_attr.add_usage */
void service_add_usage(void *arg, const struct loan_user *who,
		       const struct loan_usage told[2]);
/* rpc_service.metrics(): inside.c */
void service_metrics(void *arg, struct rpc_metrics *metrics);
/* iod.run() */
void service_run(struct worker *w, struct rpc_req *req);

#endif

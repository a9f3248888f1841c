/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_int.h - the parts of an iod: its progress threads, its service and its figures. */
#ifndef IOD_INT_H
#define IOD_INT_H

#include "server/state/worker.h"

/* ---- worker.c ---- */

/* -ENOMEM, or an error of rpc_ctx_open(), zones_open() or copies_open(). */
int worker_open(struct worker *w, struct iod *iod);
int worker_start(struct worker *w);
void worker_join(struct worker *w);
/* Frees what worker_open() made.  The server must be closed before (rpc_server_close()). */
void worker_close(struct worker *w);

/* ---- iod_service.c ---- */

/* arg: the iod. */
extern const struct rpc_service iod_service;
/* For loan_table_attr.add_usage; arg: the iod. */
void service_add_usage(void *arg, const struct loan_user *who,
		       const struct loan_usage usage[2]);
/* For iod.run. */
void service_run(struct worker *w, struct rpc_req *req);

/* ---- iod_metrics.c ---- */

/* For rpc_service.metrics; arg: the iod. */
void service_metrics(void *arg, struct rpc_metrics *metrics);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* request_int.h - requests, as connections deliver them: see request.c. */
#ifndef REQUEST_INT_H
#define REQUEST_INT_H

#include "common/comm/serve/conn_int.h"

/* Checks and executes the request in rx->buf, or rejects it with the reason. */
void request_received(struct conn *conn, struct rx *rx, const struct tp_wc *wc);
/* Drops the parked requests of conn, and calls session_conn_closed(). */
void request_conn_closed(struct conn *conn);

/* metrics.c: puts the answer to METRICS. */
void metrics_put(struct rpc_req *req, struct wire_out *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* call.h - what calls need of a progress context, and add to it. */
#ifndef CALL_H
#define CALL_H

struct rpc_ctx;
struct rpc_ctx_attr;

/* -ENOMEM */
int calls_open(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* No peer is left. */
void calls_close(struct rpc_ctx *ctx);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* call_ctx.h - what calls need from a progress context, and what they add to it. */
#ifndef CALL_H
#define CALL_H

struct rpc_ctx;
struct rpc_ctx_attr;

/* Returns 0 or -ENOMEM. */
int calls_open(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr);
/* The caller closes all peers first. */
void calls_close(struct rpc_ctx *ctx);

#endif

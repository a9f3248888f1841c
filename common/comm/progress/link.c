/* SPDX-License-Identifier: BSD-2-Clause */
/* link.c - one end of a connection: open, send, fail, close. */
#include "common/comm/progress/ctx.h"

#include <errno.h>

#include "common/transport/tp_seal.h"

#define LINK_QUIET 16

static void link_failed(struct ctx_task *task)
{
	struct rpc_link *link = container_of(task, struct rpc_link, failed);

	link->ops->lost(link, link->status);
}

void link_init(struct rpc_link *link, const struct link_ops *ops,
	       struct rpc_ctx *ctx)
{
	link->ops = ops;
	link->ctx = ctx;
	link->group = false;
	link->bulk = false;
	link->srq = NULL;
	link->ep = NULL;
	link->failed = (struct ctx_task){ .run = link_failed };
}

int link_open(struct rpc_link *link, unsigned int rail, unsigned int max_send,
	      unsigned int max_recv)
{
	struct tp_ep_attr attr = {
		.max_send_wr = max_send,
		.max_recv_wr = max_recv,
		.srq = link->srq,
		.context = link,
		.group = link->group,
		.bulk = link->bulk,
	};
	int rc = tp_ep_open(link->ctx->rail[rail].cq, &attr, &link->ep);

	if (rc)
		return rc;
	link->quiet = 0;
	link->hasher = NULL;
	link->rail = rail;
	ctx_rail_use(link->ctx, rail);
	return 0;
}

/*
 * Returns true if status does not say why the connection ended: the request was flushed, or posted
 * too late.  Another status with the reason follows.
 */
static bool link_vague(int status)
{
	return status == -ECANCELED || status == -ENOTCONN;
}

void link_fail(struct rpc_link *link, int status)
{
	if (!link->ep)
		return;
	if (!link->failed.queued || link_vague(link->status))
		link->status = status;
	ctx_defer(link->ctx, &link->failed);
}

void link_fail_now(struct rpc_link *link, int status)
{
	link->ops->lost(link, status);
}

void link_close(struct rpc_link *link)
{
	struct rpc_ctx *ctx = link->ctx;
	int i;

	ctx_undefer(ctx, &link->failed);
	if (!link->ep)
		return;
	for (i = ctx->wc_at; i < ctx->wc_n; i++) {
		if (ctx->wc[i].ep == link->ep)
			ctx->wc[i].ep = NULL;
	}
	tp_ep_close(link->ep);
	link->ep = NULL;
	ctx_rail_leave(ctx, link->rail);
}

int link_seal(struct rpc_link *link, struct sealer *sealer)
{
	const struct rpc_ctx *ctx = link->ctx;
	unsigned int behind = 0;
	int i;

	for (i = ctx->wc_at; i < ctx->wc_n; i++)
		behind += ctx->wc[i].ep == link->ep &&
			  (ctx->wc[i].opcode == TP_RECV ||
			   ctx->wc[i].opcode == TP_RECV_IMM);
	link->hasher = NULL;
	return tp_ep_seal(link->ep, sealer, behind);
}

void link_hear_begin(struct rpc_link *link, const struct prover *prover,
		     enum handshake_side side)
{
	link->hasher = prover;
	link->side = side;
	link->transcript = (struct transcript){ 0 };
}

void link_heard(struct rpc_link *link, const struct tp_wc *wc, const void *buf)
{
	if (wc->opcode == TP_RECV)
		link_hear(link, (enum handshake_side) !link->side, buf,
			  wc->byte_len);
	else
		link->hasher = NULL;
}

int link_post(struct rpc_link *link, const struct tp_send_wr *wr)
{
	link->ctx->rail[link->rail].dull = 0;
	return tp_post_send(link->ep, wr);
}

int link_post_one(struct rpc_link *link, struct tp_send_wr *wr)
{
	if (wr->opcode == TP_SEND && wr->nsge == 1)
		link_hear(link, link->side, wr->sgl->addr, wr->sgl->len);
	else if (wr->opcode == TP_SEND)
		link->hasher = NULL;
	if (wr->wr_id || ++link->quiet >= LINK_QUIET) {
		wr->flags = TP_SIGNALED;
		link->quiet = 0;
	}
	link->ctx->rail[link->rail].dull = 0;
	return tp_post_send(link->ep, wr);
}

int link_send(struct rpc_link *link, const struct tp_sge *sgl,
	      unsigned int nsge, uint64_t wr_id)
{
	struct tp_send_wr wr = {
		.wr_id = wr_id,
		.opcode = TP_SEND,
		.sgl = sgl,
		.nsge = nsge,
	};

	return link_post_one(link, &wr);
}

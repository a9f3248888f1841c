/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.c - the last data of a READ and its reply in one RDMA Write with
 * immediate, into the Fast RDMA buffer that the client has named (WIRE_F_PLACE):
 * one message less, and one completion less at the client.
 *
 * The caller of rpc_bulk_start() has promised that the reply follows at once; until
 * then the chain that was planned stays in the context's scratch.
 */
#include <errno.h>

#include "server_int.h"

/* Where the client's place begins; false: it has named none. */
static bool begin_of(const struct rx *rx, const struct rpc_bulk *bulk,
		     uint64_t *addr)
{
	uint64_t at;
	unsigned int i;

	if (!(le16toh(rx->req.msg.hdr->flags) & WIRE_F_PLACE))
		return false;
	*addr = at = le64toh(bulk->mem[0].addr);
	for (i = 0; i < bulk->nmem; i++) {
		if (le64toh(bulk->mem[i].addr) != at ||
		    bulk->mem[i].rkey != bulk->mem[0].rkey)
			return false;
		at += le32toh(bulk->mem[i].len);
	}
	return true;
}

bool place_hold(struct rx *rx, struct rpc_bulk *bulk)
{
	const struct rpc_ctx *ctx = rx->conn->link.ctx;
	const struct tp_send_wr *wr = &ctx->wr[bulk->nwr - 1];
	const struct tp_sge *end = wr->sgl + wr->nsge;
	uint64_t addr, at = bulk->mem_off + bulk->len;

	if (at > rx->put_end)
		rx->put_end = at;
	if (!bulk->last || at != rx->put_end || at > FAST_DATA ||
	    wr->nsge == TP_SGE_MAX || end == ctx->sge + CTX_SGE_MAX ||
	    rx->req.slot > WIRE_IMM_SLOT || !begin_of(rx, bulk, &addr))
		return false;
	rx->held = bulk;
	return true;
}

/* Behind the bytes of the last work request. */
static void add_reply(struct rx *rx, const struct rpc_bulk *bulk,
		      const void *reply, uint32_t len)
{
	struct rpc_ctx *ctx = rx->conn->link.ctx;
	struct tp_send_wr *wr = &ctx->wr[bulk->nwr - 1];
	struct tp_sge *end = &ctx->sge[wr->sgl - ctx->sge + wr->nsge];

	*end = (struct tp_sge){ (void *)(uintptr_t)reply, len,
				rx->conn->reply_lkey };
	wr->nsge++;
	wr->opcode = TP_WRITE_IMM;
	wr->imm = wire_imm(rx->req.slot, (uint32_t)rx->put_end);
}

bool place_reply(struct rx *rx, const void *reply, uint32_t len)
{
	struct rpc_bulk *bulk = rx->held;
	bool fits = rx->put_end + len <= FAST_SIZE;

	if (!bulk)
		return false;
	rx->held = NULL;
	if (fits) {
		add_reply(rx, bulk, reply, len);
		lane_count(&rx->conn->lane->placed);
	}
	bulk_post_held(rx->conn, bulk);
	return fits;
}

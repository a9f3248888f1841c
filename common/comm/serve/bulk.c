/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk.c - starts the bulk data of a request: the server asks the client to move it, or queues it,
 * or posts it at once.
 *
 * The server can send the last data of a READ and its reply in one RDMA Write with immediate.  This
 * saves one message, and one completion at the client.  With WIRE_F_PLACE, the server writes the
 * reply after the data, in the Fast RDMA buffer that the client named.  With WIRE_F_WHOLE, the
 * immediate replaces the reply if all requested data was written (PVFS over InfiniBand, ICPP 2003,
 * section 3.2.3: the transfer by the server notifies the client).
 *
 * For this, a bulk with rpc_bulk.last is held back until the reply, which follows immediately.
 * Until then, the planned chain stays in the context's scratch space.
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>

static bool request_has_flag(const struct rx *rx, unsigned int flag)
{
	return le16toh(rx->req.msg.hdr->flags) & flag;
}

/* The start of the client's memory.  Returns false if that is not contiguous. */
static bool bulk_remote_start(const struct rpc_bulk *bulk, uint64_t *addr)
{
	uint64_t at;
	unsigned int i;

	*addr = at = le64toh(bulk->mem[0].addr);
	for (i = 0; i < bulk->nmem; i++) {
		if (le64toh(bulk->mem[i].addr) != at ||
		    bulk->mem[i].rkey != bulk->mem[0].rkey)
			return false;
		at += le32toh(bulk->mem[i].len);
	}
	return true;
}

/* The reply fits after the data, which ends with this bulk. */
static bool reply_fits_after(const struct rx *rx, const struct rpc_bulk *bulk)
{
	const struct rpc_ctx *ctx = rx->conn->link.ctx;
	const struct tp_send_wr *wr = &ctx->wr[bulk->nwr - 1];
	const struct tp_sge *end = wr->sgl + wr->nsge;
	uint64_t addr;

	return request_has_flag(rx, WIRE_F_PLACE) &&
	       bulk->mem_off + bulk->len == rx->put_end &&
	       rx->put_end <= FAST_DATA && wr->nsge < TP_SGE_MAX &&
	       end < ctx->sge + CTX_SGE_MAX && bulk_remote_start(bulk, &addr);
}

/* No bulk of the request waits or was lent to the client, so this one arrives last. */
static bool bulk_may_replace_reply(const struct rx *rx)
{
	return request_has_flag(rx, WIRE_F_WHOLE) && !rx->bulks;
}

/* Takes a planned PUT.  Returns true: it is posted with the reply. */
static bool bulk_hold_for_reply(struct rx *rx, struct rpc_bulk *bulk)
{
	uint64_t at = bulk->mem_off + bulk->len;

	if (at > rx->put_end)
		rx->put_end = at;
	if (!bulk->last || rx->req.slot > WIRE_IMM_SLOT)
		return false;
	rx->held_ends_read = bulk_may_replace_reply(rx);
	if (!rx->held_ends_read && !reply_fits_after(rx, bulk))
		return false;
	rx->held_bulk = bulk;
	return true;
}

int rpc_bulk_start(struct rpc_req *req, struct rpc_bulk *bulk)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct conn *conn = rx->conn;
	bool crowded;
	int n;

	if (!conn_is_usable(conn))
		return -ENOTCONN;
	n = bulk_plan(conn, bulk, bulk->local);
	if (n < 0)
		return n;
	bulk->req = req;
	bulk->copy = NULL;
	bulk->nwr = (unsigned int)n;
	/* the data may be lost with the connection although the reply is kept */
	rx->rerun |= bulk->dir == RPC_PUT;
	*(bulk->dir == RPC_PUT ? &rx->bytes_out : &rx->bytes_in) += bulk->len;
	rx->put |= bulk->dir == RPC_PUT;
	rx->mapped |= bulk->mapped;
	crowded = bulk_is_crowded(conn, bulk);
	if (bulk_loan_offer(rx, bulk, crowded))
		return 0;
	if (crowded)
		return bulk_enqueue_counted(conn, bulk);
	if (bulk->dir == RPC_PUT && bulk_hold_for_reply(rx, bulk))
		return 0;
	return bulk_post(conn, bulk);
}

/* ---- the reply ---- */

static struct tp_send_wr *bulk_last_wr(const struct rx *rx,
				       const struct rpc_bulk *bulk)
{
	return &rx->conn->link.ctx->wr[bulk->nwr - 1];
}

/* Appends the reply to the bytes of the last work request. */
static bool bulk_append_reply(struct rx *rx, const struct rpc_bulk *bulk,
			      const void *reply, uint32_t len)
{
	struct rpc_ctx *ctx = rx->conn->link.ctx;
	struct tp_send_wr *wr = bulk_last_wr(rx, bulk);
	struct tp_sge *end = &ctx->sge[wr->sgl - ctx->sge + wr->nsge];

	if (rx->put_end + len > FAST_SIZE)
		return false;
	*end = (struct tp_sge){ (void *)(uintptr_t)reply, len,
				rx->conn->reply_lkey };
	wr->nsge++;
	wr->opcode = TP_WRITE_IMM;
	wr->imm = wire_imm(rx->req.slot, (uint32_t)rx->put_end);
	counter_increment(&rx->conn->thread->placed);
	return true;
}

static bool bulk_replace_reply(struct rx *rx, const struct rpc_bulk *bulk)
{
	struct tp_send_wr *wr = bulk_last_wr(rx, bulk);

	if (!rx->whole)
		return false;
	wr->opcode = TP_WRITE_IMM;
	wr->imm = wire_imm_whole(rx->req.slot, rx->req.seq);
	counter_increment(&rx->conn->thread->whole);
	return true;
}

bool bulk_post_with_reply(struct rx *rx, const void *reply, uint32_t len)
{
	struct rpc_bulk *bulk = rx->held_bulk;
	bool done;

	if (!bulk)
		return false;
	rx->held_bulk = NULL;
	done = rx->held_ends_read ? bulk_replace_reply(rx, bulk)
				  : bulk_append_reply(rx, bulk, reply, len);
	bulk_post_or_fail(rx->conn, bulk);
	return done;
}

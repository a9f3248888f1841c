/* SPDX-License-Identifier: BSD-2-Clause */
/* part_transfer.c - moves what a server asks for: see part_transfer.h. */
#include "common/comm/call/part_transfer.h"

#include <errno.h>
#include <string.h>

/*
 * The wr_id alone names slot and ticket.  The server may reuse the ticket of a write before the
 * write completes here.
 */
#define PART_BIT 0x80u
#define PART_SLOT 0x3fu
#define PART_TICKET 0xfu

_Static_assert(PEER_SLOTS_MAX <= PART_SLOT + 1, "slots in a wr_id");
_Static_assert(WIRE_CARRY_MAX <= PART_TICKET + 1, "tickets in a wr_id");

static uint64_t part_wr_id(const struct peer_slot *s,
			   const struct part_transfer *part)
{
	return s->seq << 12 | le32toh(part->rep.ticket) << 8 | PART_BIT |
	       part->slot;
}

bool part_transfer_owns(uint64_t wr_id)
{
	return wr_id & PART_BIT;
}

static unsigned int slot_op(const struct rpc_peer *peer, unsigned int slot)
{
	return le16toh(slot_msg(peer, slot)->op);
}

const char *part_transfer_check(const struct rpc_peer *peer,
				const struct wire_msg *msg,
				struct part_transfer *part)
{
	unsigned int slot = le16toh(msg->hdr->slot), op;

	if (!peer->carries)
		return "CARRY, which it did not announce";
	if (msg->hdr->status)
		return "CARRY with a status";
	if (slot >= peer->nslots || peer->free >> slot & 1 ||
	    le64toh(msg->hdr->seq) != peer->slots[slot].seq ||
	    le64toh(msg->hdr->session) != peer->session)
		return "CARRY without a request";
	op = slot_op(peer, slot);
	if (!wire_op_reads(op) && !wire_op_writes(op))
		return "CARRY for what has no data";
	part->slot = slot;
	memcpy(&part->rep, msg->body, sizeof(part->rep));
	return NULL;
}

/*
 * Fills sge for the part.  Returns the number of entries, or -EINVAL if it is not in such memory.
 */
static int gather_part(const struct rpc_peer *peer, const struct peer_slot *s,
		       const struct part_transfer *part, struct tp_sge *sge)
{
	uint64_t skip = le64toh(part->rep.mem_off);
	uint32_t left = le32toh(part->rep.len);
	unsigned int rail = peer->link.rail, at = 0, n = 0, k;

	for (k = 0; left && k < s->npieces; k++) {
		const struct wire_mem *piece = &slot_pieces(s)[k];
		uint32_t len = le32toh(piece->len);
		struct rail_mem *mem;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		len = len - skip < left ? len - (uint32_t)skip : left;
		mem = payload_area(s, &at, piece);
		if (!mem || !mem->mr[rail])
			return -EINVAL;
		sge[n++] = (struct tp_sge){
			(void *)(uintptr_t)(le64toh(piece->addr) + skip), len,
			mem->mr[rail]->lkey
		};
		left -= len;
		skip = 0;
	}
	return left ? -EINVAL : (int)n;
}

/* Sends an empty RDMA Write with immediate data.  No address is checked for it. */
static void answer_part(struct rpc_peer *peer, uint32_t ticket, uint32_t flags)
{
	struct tp_send_wr wr = { .opcode = TP_WRITE_IMM,
				 .imm = WIRE_IMM_CARRIED | flags | ticket };
	int rc = link_post_one(&peer->link, &wr);

	if (rc)
		link_fail(&peer->link, rc);
}

/* A call that was given up, or whose data is in a buffer, has no memory to move. */
static bool has_memory(const struct peer_slot *s)
{
	return s->call && s->nareas && !s->bounced;
}

void part_transfer_reset(struct rpc_peer *peer)
{
	peer->link.ctx->parts -= peer->transfers;
	peer->transfers = 0;
}

static void count_part(struct rpc_peer *peer, int n)
{
	peer->transfers += (unsigned int)n;
	peer->link.ctx->parts += (unsigned int)n;
}

void part_transfer_start(struct rpc_peer *peer,
			 const struct part_transfer *part)
{
	struct peer_slot *s = &peer->slots[part->slot];
	const struct rpc_ctx *ctx = peer->link.ctx;
	struct tp_sge *sge = ctx->sge;
	uint32_t ticket = le32toh(part->rep.ticket);
	bool moves = has_memory(s) && ctx->parts < ctx->carry_parts;
	int n = moves ? gather_part(peer, s, part, sge) : -EINVAL, rc;
	struct tp_send_wr wr = {
		.wr_id = part_wr_id(s, part),
		.opcode = wire_op_reads(slot_op(peer, part->slot))
				  ? TP_READ
				  : TP_WRITE_IMM,
		.imm = WIRE_IMM_CARRIED | ticket,
		.sgl = sge,
		.nsge = (unsigned int)n,
		.remote_addr = le64toh(part->rep.addr),
		.rkey = le32toh(part->rep.rkey),
	};

	if (n < 0) {
		answer_part(peer, ticket, WIRE_IMM_DECLINED);
		return;
	}
	rc = link_post_one(&peer->link, &wr);
	if (rc) {
		link_fail(&peer->link, rc);
		return;
	}
	s->transfers++;
	count_part(peer, 1);
}

void part_transfer_complete(struct rpc_peer *peer, const struct tp_wc *wc)
{
	struct peer_slot *s = &peer->slots[wc->wr_id & PART_SLOT];

	count_part(peer, -1);
	if (s->seq == wc->wr_id >> 12 && s->transfers)
		s->transfers--;
	if (wc->opcode == TP_READ)
		answer_part(peer, wc->wr_id >> 8 & PART_TICKET, 0);
}

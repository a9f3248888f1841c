/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_send.c - sends the request of a slot, the first time or again: the message from the buffer
 * of the slot, the data from the caller's memory.
 */
#include <errno.h>

#include "common/comm/call/peer_int.h"

struct wire_hdr *call_buf(const struct rpc_peer *peer, unsigned int slot)
{
	return (struct wire_hdr *)(peer->block + slot * PEER_MSG_MAX);
}

/*
 * The deadline of the call on the server's clock, never later than the true time.  Reads the
 * clock that counts suspend first, so that the difference is not too large.
 */
static uint64_t call_expiry(const struct rpc_peer *peer,
			    const struct rpc_call *call)
{
	uint64_t boot = clock_boot(), now = clock_now();

	return offset_tell(&peer->clock, call->deadline + (boot - now));
}

/* Gathers the request in the slot: the message, then the caller's data in place. */
static unsigned int call_gather(const struct rpc_peer *peer, unsigned int i,
				struct tp_sge *sge)
{
	const struct peer_slot *s = &peer->slots[i];
	unsigned int k;

	sge[0] = (struct tp_sge){ call_buf(peer, i), s->msg_len, peer->lkey };
	for (k = 0; k < s->ndata; k++)
		sge[k + 1] = (struct tp_sge){ s->data[k].iov_base,
					      (uint32_t)s->data[k].iov_len,
					      TP_LKEY_NONE };
	return k + 1;
}

struct rail_mem *call_area(const struct peer_slot *s, unsigned int *at,
			   const struct wire_mem *piece)
{
	uint64_t addr = le64toh(piece->addr);
	unsigned int i;

	for (i = 0; i < s->nareas; i++, *at = (*at + 1) % s->nareas) {
		struct rail_mem *mem = s->area[*at];
		uint64_t off = addr - (uintptr_t)mem->addr;

		if (off < mem->len && mem->len - off >= le32toh(piece->len))
			return mem;
	}
	return NULL;
}

/* Fills in the keys of the pieces, for the rail of this connection. */
static int call_keys(const struct rpc_peer *peer, unsigned int i)
{
	const struct peer_slot *s = &peer->slots[i];
	uint8_t *msg = (uint8_t *)call_buf(peer, i);
	struct wire_mem *piece = (void *)(msg + s->pieces_at);
	unsigned int rail = peer->link.rail, at = 0, k;
	int rc;

	for (k = 0; k < s->npieces; k++) {
		struct rail_mem *mem = call_area(s, &at, &piece[k]);

		if (!mem)
			return -EINVAL;
		rc = rail_mem_on(mem, &peer->link.ctx->rails, rail);
		if (rc)
			return rc;
		piece[k].rkey = htole32(mem->mr[rail]->rkey);
	}
	return 0;
}

static uint64_t call_wr_id(const struct peer_slot *s, unsigned int i)
{
	return s->seq << 8 | i;
}

/* Sends one message to the server, or writes it to a buffer of the server. */
static int call_put(struct rpc_peer *peer, unsigned int i, enum way way,
		    const struct tp_sge *sge, unsigned int nsge)
{
	const struct peer_slot *s = &peer->slots[i];
	uint64_t wr_id = s->sending ? call_wr_id(s, i) : 0;
	struct tp_send_wr wr = {
		.opcode = TP_WRITE_IMM, .wr_id = wr_id, .sgl = sge, .nsge = nsge
	};

	if (way != WAY_FAST_WRITE)
		return link_send(&peer->link, sge, nsge, wr_id);
	wr.imm = s->buffer - 1;
	wr.remote_addr = fast_peer_addr(&peer->fast.theirs, wr.imm);
	wr.rkey = peer->fast.theirs.place.rkey;
	return link_post_one(&peer->link, &wr);
}

/*
 * Adds the entries of the payload after the message.  Fills in keys for a payload that is not
 * sent.
 */
static int call_payload(struct rpc_peer *peer, unsigned int i, enum way way,
			struct tp_sge *sge)
{
	struct peer_slot *s = &peer->slots[i];

	switch (way) {
	case WAY_INLINE:
	case WAY_FAST_WRITE:
		return way_gather(peer, s, way, sge, &s->sending);
	case WAY_FAST_READ:
		way_bounce(peer, s);
		return 0;
	case WAY_KEYS:
		break;
	}
	return s->nareas ? call_keys(peer, i) : 0;
}

/* A reply also carries the server's clock, so sometimes a read needs one. */
static bool call_terse(const struct rpc_peer *peer, const struct peer_slot *s,
		       const struct wire_hdr *hdr, enum way way)
{
	return way == WAY_KEYS && s->call->terse && s->npieces &&
	       wire_op_reads(le16toh(hdr->op)) && call_is_idle(&peer->link) &&
	       offset_fresh(&peer->clock, clock_boot());
}

static unsigned int call_flags(const struct peer_slot *s, enum way way)
{
	if (way == WAY_INLINE || way == WAY_FAST_WRITE)
		return WIRE_F_DATA;
	if (way == WAY_FAST_READ)
		return WIRE_F_PLACE;
	return s->terse ? WIRE_F_WHOLE : 0;
}

void call_post(struct rpc_peer *peer, unsigned int i, unsigned int flags)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = call_buf(peer, i);
	struct tp_sge sge[RPC_DATA_MAX + 1];
	enum way way;
	unsigned int n;
	int rc;

	call_show(peer, i);
	way = way_choose(peer, s, hdr);
	s->sending = s->ndata > 0;
	n = call_gather(peer, i, sge);
	rc = call_payload(peer, i, way, sge + n);
	if (rc < 0) {
		call_drop(peer, i, flags & WIRE_F_REPLAY, rc);
		return;
	}
	s->terse = call_terse(peer, s, hdr, way);
	if (s->kind != WIRE_WAIT_NOT && rpc_peer_features(peer) & WIRE_FT_WAITS)
		flags |= WIRE_F_WAITS;
	flags |= call_flags(s, way) |
		 (le16toh(hdr->flags) & (WIRE_F_AS | WIRE_F_CAPS));
	hdr->flags = htole16((uint16_t)flags);
	hdr->clock = htole64(call_expiry(peer, s->call));
	rc = call_put(peer, i, way, sge, n + (unsigned int)rc);
	if (rc)
		link_fail(&peer->link, rc);
	else
		way_count(peer, s, hdr, way);
}

void call_sent(struct rpc_peer *peer, uint64_t wr_id)
{
	unsigned int i = wr_id & 0xff;

	if (i < peer->nslots && call_wr_id(&peer->slots[i], i) == wr_id)
		peer->slots[i].sending = false;
}

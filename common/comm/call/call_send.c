/* SPDX-License-Identifier: BSD-2-Clause */
/* call_send.c - sends the request of a slot: see call_int.h. */
#include <errno.h>

#include "common/comm/call/call_int.h"

/* ---- capabilities: see struct rpc_caps_source ---- */

void call_remove_caps(struct rpc_peer *peer, unsigned int i)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = slot_msg(peer, i);

	if (!s->caps_len)
		return;
	s->msg_len -= s->caps_len;
	hdr->len = htole32(s->msg_len);
	hdr->flags &= htole16((uint16_t)~WIRE_F_CAPS);
	s->caps_len = 0;
}

/* The iod remembers what it received on this connection until it answers ENOKEY. */
bool call_add_caps(struct rpc_peer *peer, unsigned int i)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = slot_msg(peer, i);
	struct wire_need need[WIRE_NEEDS_MAX];
	struct rpc_caps_query query = { .index = peer->index,
					.epoch = peer->epoch,
					.need = need,
					.must = s->caps_asked };

	if (!peer->caps || s->ndata)
		return false;
	call_remove_caps(peer, i);
	if (!s->call || !(rpc_peer_features(peer) & WIRE_FT_CAPS) ||
	    s->msg_len % 8)
		return false;
	query.n = wire_needs(le16toh(hdr->op), hdr + 1, need);
	if (query.n)
		s->caps_len = (uint32_t)peer->caps->append(
			peer->caps->arg, &query, (uint8_t *)hdr + s->msg_len,
			PEER_MSG_MAX - s->msg_len);
	if (!s->caps_len)
		return false;
	s->msg_len += s->caps_len;
	hdr->len = htole32(s->msg_len);
	hdr->flags |= htole16(WIRE_F_CAPS);
	return true;
}

/* ---- the request ---- */

/*
 * The deadline of the call on the server's clock, never later than the true deadline.  So it reads
 * the clock that counts suspend first: a delay between the two reads then makes the result earlier.
 */
static uint64_t call_expiry(const struct rpc_peer *peer,
			    const struct rpc_call *call)
{
	uint64_t boot = clock_boot(), now = clock_now();

	return clock_offset_convert(&peer->clock,
				    call->deadline + (boot - now));
}

/* Gathers the request in the slot: the message, then the caller's data in place. */
static unsigned int call_gather(const struct rpc_peer *peer, unsigned int i,
				struct tp_sge *sge)
{
	const struct peer_slot *s = &peer->slots[i];
	unsigned int k;

	sge[0] = (struct tp_sge){ slot_msg(peer, i), s->msg_len, peer->lkey };
	for (k = 0; k < s->ndata; k++)
		sge[k + 1] = (struct tp_sge){ s->data[k].iov_base,
					      (uint32_t)s->data[k].iov_len,
					      TP_LKEY_NONE };
	return k + 1;
}

static uint64_t call_wr_id(const struct peer_slot *s, unsigned int i)
{
	return s->seq << 8 | i;
}

/* A reply also carries the server's clock, so sometimes a read needs one. */
static bool may_omit_reply(const struct rpc_peer *peer,
			   const struct peer_slot *s,
			   const struct wire_hdr *hdr, enum payload_path path)
{
	return path == PAYLOAD_DIRECT && s->call->reply_optional &&
	       s->npieces && wire_op_reads(le16toh(hdr->op)) &&
	       payload_is_offloaded(&peer->link) &&
	       clock_offset_is_fresh(&peer->clock, clock_boot());
}

static unsigned int payload_flags(const struct peer_slot *s,
				  enum payload_path path)
{
	if (path == PAYLOAD_INLINE || path == PAYLOAD_FAST_WRITE)
		return WIRE_F_DATA;
	if (path == PAYLOAD_FAST_READ)
		return WIRE_F_PLACE;
	return s->reply_optional ? WIRE_F_WHOLE : 0;
}

int call_send(struct rpc_peer *peer, unsigned int i, unsigned int flags)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = slot_msg(peer, i);
	struct tp_sge sge[RPC_DATA_MAX + 1];
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = sge };
	enum payload_path path;
	int n, rc;

	call_add_caps(peer, i);
	path = payload_choose_path(peer, s, hdr);
	s->sending = s->ndata > 0;
	wr.nsge = call_gather(peer, i, sge);
	n = payload_prepare(peer, s, path, sge + wr.nsge);
	if (n < 0)
		return n;
	wr.nsge += (unsigned int)n;
	s->reply_optional = may_omit_reply(peer, s, hdr, path);
	if (s->kind != WIRE_WAIT_NOT && rpc_peer_features(peer) & WIRE_FT_WAITS)
		flags |= WIRE_F_WAITS;
	flags |= payload_flags(s, path) |
		 (le16toh(hdr->flags) & (WIRE_F_AS | WIRE_F_CAPS));
	hdr->flags = htole16((uint16_t)flags);
	hdr->clock = htole64(call_expiry(peer, s->call));
	wr.wr_id = s->sending ? call_wr_id(s, i) : 0;
	if (path == PAYLOAD_FAST_WRITE) {
		wr.opcode = TP_WRITE_IMM;
		wr.imm = s->buffer - 1;
		wr.remote_addr = fast_peer_addr(&peer->fast.theirs, wr.imm);
		wr.rkey = peer->fast.theirs.place.rkey;
	}
	rc = link_post_one(&peer->link, &wr);
	if (rc)
		link_fail(&peer->link, rc);
	else
		payload_count(peer, s, hdr, path);
	return 0;
}

void call_sent(struct rpc_peer *peer, uint64_t wr_id)
{
	unsigned int i = wr_id & 0xff;

	if (i < peer->nslots && call_wr_id(&peer->slots[i], i) == wr_id)
		peer->slots[i].sending = false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_recv.c - messages from a server: replies, and parts that we should move. */
#include <errno.h>

#include "common/comm/call/call_carry_int.h"

void peer_stamped(struct rpc_peer *peer, const struct wire_hdr *hdr)
{
	offset_note(&peer->clock, le64toh(hdr->clock), clock_boot());
}

/* Posts the receive again before it answers the server. */
static void peer_carry(struct rpc_peer *peer, const struct tp_wc *wc,
		       const struct wire_msg *msg)
{
	struct call_part part;
	const char *error = call_part_get(peer, msg, &part);

	if (error)
		peer_protocol_error(peer, error);
	else if (peer_post_recv(peer, (unsigned int)wc->wr_id))
		link_fail(&peer->link, -ENOTCONN);
	else
		call_part_move(peer, &part);
}

static bool peer_parse(struct rpc_peer *peer, const struct tp_wc *wc,
		       struct wire_msg *msg)
{
	void *buf = peer_recv_buf(peer, (unsigned int)wc->wr_id);
	size_t max = wc->wr_id < peer->nrecv ? PEER_MSG_MAX
					     : peer_apart_recv_len();
	uint32_t len = wc->byte_len;
	const char *why = "direction";

	if (wc->opcode == TP_RECV_IMM)
		len = way_reply(peer, wc->imm, buf, max);
	if (!wire_parse(buf, len, msg, &why) &&
	    le16toh(msg->hdr->flags) & WIRE_F_REPLY)
		return true;
	peer_protocol_error(peer, why ? why : "direction");
	return false;
}

void peer_received(struct rpc_peer *peer, const struct tp_wc *wc)
{
	struct wire_msg msg;

	link_heard(&peer->link, wc,
		   peer_recv_buf(peer, (unsigned int)wc->wr_id));
	if (wc->opcode == TP_RECV_IMM && wc->imm & WIRE_IMM_WHOLE)
		call_whole(peer, wc->imm);
	else if (!peer_parse(peer, wc, &msg))
		return;
	else if (peer->state == PEER_HELLO)
		hello_reply(peer, &msg);
	else if (le16toh(msg.hdr->op) != WIRE_CARRY)
		call_reply(peer, &msg);
	else {
		peer_carry(peer, wc, &msg);
		return;
	}
	if (!peer_apart_or_link(peer, wc->ep))
		return;
	if (peer->state == PEER_READY)
		peer_apart_heard(peer);
	if (peer_post_recv(peer, (unsigned int)wc->wr_id))
		link_fail(&peer->link, -ENOTCONN);
	else if (peer->state == PEER_READY)
		call_pump(peer);
}

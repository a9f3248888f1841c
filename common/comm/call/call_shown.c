/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_shown.c - capabilities after requests: see struct rpc_shower.  The iod remembers what it
 * received on this connection until it answers ENOKEY.
 */
#include <errno.h>

#include "common/comm/call/peer_int.h"

#define ASKED_MAX 3u

static void cut(struct peer_slot *s, struct wire_hdr *hdr)
{
	s->msg_len -= s->shown.len;
	hdr->len = htole32(s->msg_len);
	hdr->flags &= htole16((uint16_t)~WIRE_F_CAPS);
	s->shown.len = 0;
}

static size_t show(const struct rpc_peer *peer, const struct peer_slot *s,
		   struct wire_hdr *hdr)
{
	struct wire_need need[WIRE_NEEDS_MAX];
	struct rpc_showing to = {
		.index = peer->index,
		.epoch = peer->epoch,
		.need = need,
		.n = wire_needs(le16toh(hdr->op), hdr + 1, need),
		.must = s->shown.asked,
	};

	if (!to.n)
		return 0;
	return peer->shower->show(peer->shower->arg, &to,
				  (uint8_t *)hdr + s->msg_len,
				  PEER_MSG_MAX - s->msg_len);
}

void call_show(struct rpc_peer *peer, unsigned int i)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = call_buf(peer, i);

	if (!peer->shower || s->ndata)
		return;
	if (s->shown.len)
		cut(s, hdr);
	if (!s->call || !(rpc_peer_features(peer) & WIRE_FT_CAPS) ||
	    s->msg_len % 8)
		return;
	s->shown.len = (uint32_t)show(peer, s, hdr);
	if (!s->shown.len)
		return;
	s->msg_len += s->shown.len;
	hdr->len = htole32(s->msg_len);
	hdr->flags |= htole16(WIRE_F_CAPS);
}

void call_hide(struct rpc_peer *peer, unsigned int i)
{
	if (peer->slots[i].shown.len)
		cut(&peer->slots[i], call_buf(peer, i));
}

/* The request was not executed, so it gets a new seq. */
bool call_asked(struct rpc_peer *peer, unsigned int i,
		const struct wire_msg *reply)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = call_buf(peer, i);

	if (le32toh(reply->hdr->status) != ENOKEY || !s->call ||
	    !peer->shower || !(rpc_peer_features(peer) & WIRE_FT_CAPS) ||
	    s->carrying || s->shown.asked == ASKED_MAX)
		return false;
	s->shown.asked++;
	way_again(peer, s);
	s->anew = false;
	s->seq++;
	hdr->seq = htole64(s->seq);
	call_show(peer, i);
	if (!s->shown.len)
		return false;
	call_post(peer, i, 0);
	return true;
}

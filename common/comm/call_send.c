/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_send.c - puts the request of a slot on the wire, the first time or
 * again: the message from the slot's buffer, the data from the caller's memory.
 */
#include <errno.h>

#include "peer.h"

struct wire_hdr *call_buf(const struct rpc_peer *peer, unsigned int slot)
{
	return (struct wire_hdr *)(peer->block + slot * PEER_MSG_MAX);
}

static unsigned int call_timeout_ms(const struct rpc_call *call)
{
	int ms = clock_left_ms(call->deadline);

	return ms > 0 ? (unsigned int)ms : 1;
}

/* The request in the slot: message, then the caller's data in place. */
static unsigned int call_gather(const struct rpc_peer *peer, unsigned int i,
				struct tp_sge *sge)
{
	const struct peer_slot *s = &peer->slots[i];
	unsigned int k;

	sge[0] = (struct tp_sge){ call_buf(peer, i), s->msg_len,
				  peer->mr->lkey };
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

void call_post(struct rpc_peer *peer, unsigned int i, unsigned int flags)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = call_buf(peer, i);
	struct tp_sge sge[RPC_DATA_MAX + 1];
	int rc;

	hdr->flags = htole16((uint16_t)flags);
	hdr->timeout_ms = htole32(call_timeout_ms(s->call));
	s->sending = s->ndata > 0;
	rc = link_send(&peer->link, sge, call_gather(peer, i, sge),
		       s->ndata ? call_wr_id(s, i) : 0);
	if (rc)
		link_fail(&peer->link, rc);
}

void call_sent(struct rpc_peer *peer, uint64_t wr_id)
{
	unsigned int i = wr_id & 0xff;

	if (i < peer->nslots && call_wr_id(&peer->slots[i], i) == wr_id)
		peer->slots[i].sending = false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_apart.c - a second endpoint to a server, for bulk data.  It is used if the device has a
 * separate class on the network for such data.  If either endpoint ends, the connection ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

#define APART_MSG 1024u /* a reply after data contains no data itself */
#define APART_TRIES 2u /* failures after which the peer does without it */

bool peer_apart_wanted(const struct rpc_peer *peer)
{
	const struct rpc_ctx *ctx = peer->link.ctx;
	const struct tp_dev *dev = ctx->rails.dev[peer->link.rail];

	/* a second endpoint would not be sealed */
	return !peer->seal.agreed && peer->apart.failed < APART_TRIES &&
	       (ctx->apart || tp_dev_serves(dev) & TP_CLASSES);
}

bool peer_apart_or_link(const struct rpc_peer *peer, const struct tp_ep *ep)
{
	return ep && (ep == peer->link.ep || ep == peer->apart.link.ep);
}

size_t peer_apart_recv_len(void)
{
	return APART_MSG;
}

void *peer_apart_recv_buf(const struct rpc_peer *peer, unsigned int index)
{
	return peer->apart.block + (size_t)index * APART_MSG;
}

int peer_apart_post_recv(struct rpc_peer *peer, unsigned int index)
{
	struct tp_recv_wr wr = {
		.wr_id = peer->nrecv + index,
		.sge = { .addr = peer_apart_recv_buf(peer, index),
			 .len = APART_MSG,
			 .lkey = peer->apart.lkey },
	};

	return tp_post_recv(peer->apart.link.ep, &wr);
}

/* Calls may be sent. */
static void apart_ready(struct rpc_peer *peer)
{
	struct wire_hdr hdr = peer->apart.hdr;
	struct wire_hello_rep rep = peer->apart.rep;

	peer->apart.joining = false;
	hello_ready(peer, &hdr, &rep);
}

static void apart_without(struct rpc_peer *peer, int status)
{
	peer->apart.alone = true;
	log_warn(peer->link.ctx->log,
		 "%s: no second connection for bulk data: %s; it goes with "
		 "requests",
		 peer->name, strerror(-status));
	link_close(&peer->apart.link);
	apart_ready(peer);
}

void peer_apart_heard(struct rpc_peer *peer)
{
	peer->apart.failed += peer->apart.alone;
	peer->apart.alone = false;
}

static struct rpc_peer *peer_of(struct link *link)
{
	return container_of(link, struct rpc_peer, apart.link);
}

static void apart_event(struct link *link, const struct tp_event *ev)
{
	struct rpc_peer *peer = peer_of(link);
	int status = ev->status ? ev->status : -ECONNRESET;

	if (!peer->apart.joining) {
		link_fail(&peer->link, status);
	} else if (ev->type == TP_EV_ESTABLISHED) {
		peer->apart.failed = 0;
		log_debug(link->ctx->log,
			  "%s: bulk data over a connection of its own",
			  peer->name);
		apart_ready(peer);
	} else {
		apart_without(peer, ev->type == TP_EV_REJECTED ? -ECONNREFUSED
							       : status);
	}
}

static void apart_completion(struct link *link, const struct tp_wc *wc)
{
	struct rpc_peer *peer = peer_of(link);

	if (peer->apart.joining && wc->status)
		return; /* an event gives the reason */
	if (wc->status)
		link_fail(&peer->link, wc->status);
	else if (peer->link.failed.queued)
		return;
	else if (peer->apart.joining)
		peer_protocol_error(peer, "one that was not asked for");
	else
		peer_received(peer, wc);
}

static void apart_lost(struct link *link, int status)
{
	struct rpc_peer *peer = peer_of(link);

	if (peer->apart.joining)
		apart_without(peer, status);
	else
		link_fail(&peer->link, status);
}

static const struct link_ops apart_ops = {
	.completion = apart_completion,
	.event = apart_event,
	.lost = apart_lost,
};

void peer_apart_init(struct rpc_peer *peer)
{
	link_init(&peer->apart.link, &apart_ops, peer->link.ctx);
	peer->apart.link.group = peer->link.group;
	peer->apart.link.bulk = true;
}

static int apart_memory(struct rpc_peer *peer)
{
	struct peer_apart *a = &peer->apart;
	unsigned int rail = peer->link.rail;
	size_t len = ((size_t)peer->nslots * APART_MSG + 4095) & ~(size_t)4095;
	int rc;

	if (!a->block) {
		a->block = aligned_alloc(4096, len);
		if (!a->block)
			return -ENOMEM;
		a->nrecv = peer->nslots;
		rail_mem_init(&a->mem, a->block, len, TP_LOCAL_WRITE);
	}
	rc = rail_mem_on(&a->mem, &peer->link.ctx->rails, rail);
	if (!rc)
		a->lkey = a->mem.mr[rail]->lkey;
	return rc;
}

static int apart_receives(struct rpc_peer *peer)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < peer->apart.nrecv; i++)
		rc = peer_apart_post_recv(peer, i);
	return rc;
}

struct join_private {
	struct wire_connect wc;
	struct wire_hail hail;
};

static int apart_connect(struct rpc_peer *peer, const struct wire_apart *apart)
{
	struct join_private priv = {
		.wc = { .magic = htole32(WIRE_MAGIC),
			.version = htole16(WIRE_VERSION),
			.role = htole16((uint16_t)peer->role),
			.fsid = htole64(peer->fsid),
			.session = htole64(peer->session),
			.epoch = htole32(peer->epoch),
			.reply_max = htole32(APART_MSG) },
		.hail.features = htole32(WIRE_FT_APART),
	};

	memcpy(priv.hail.nonce, apart->token, sizeof(priv.hail.nonce));
	return tp_connect(peer->apart.link.ep, &peer->at, &priv, sizeof(priv),
			  clock_after_ms(PEER_TRY_MS));
}

void peer_apart_join(struct rpc_peer *peer, const struct wire_msg *hello)
{
	struct peer_apart *a = &peer->apart;
	int rc;

	a->joining = true;
	rpc_timer_set(peer->link.ctx, &peer->timer,
		      clock_after_ms(PEER_HELLO_MS));
	a->hdr = *hello->hdr;
	memcpy(&a->rep, hello->body, sizeof(a->rep));
	rc = apart_memory(peer);
	if (!rc)
		rc = link_open(&a->link, peer->link.rail, 1, peer->nslots);
	if (!rc)
		rc = apart_receives(peer);
	if (!rc)
		rc = apart_connect(peer, hello->apart);
	if (rc)
		apart_without(peer, rc);
}

void peer_apart_close(struct rpc_peer *peer)
{
	link_close(&peer->apart.link);
	peer->apart.joining = false;
	peer->apart.alone = false;
}

void peer_apart_fini(struct rpc_peer *peer)
{
	rail_mem_fini(&peer->apart.mem);
	free(peer->apart.block);
}

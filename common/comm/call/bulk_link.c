/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk_link.c - a second endpoint to the server, for bulk data: see peer_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

#define TRIES_MAX 2u /* failures after which the peer does without it */

void bulk_link_init(struct rpc_peer *peer, const struct link_ops *ops)
{
	link_init(&peer->bulk.link, ops, peer->link.ctx);
	peer->bulk.link.group = peer->link.group;
	peer->bulk.link.bulk = true;
}

bool bulk_link_is_wanted(const struct rpc_peer *peer)
{
	const struct rpc_ctx *ctx = peer->link.ctx;
	const struct tp_dev *dev = ctx->rails.dev[peer->link.rail];

	/* a second endpoint would not be sealed */
	return !peer->seal.agreed && peer->bulk.failures < TRIES_MAX &&
	       (ctx->apart || tp_dev_serves(dev) & TP_CLASSES);
}

/* ---- the connect ---- */

static int prepare_memory(struct rpc_peer *peer)
{
	struct bulk_link *b = &peer->bulk;
	unsigned int rail = peer->link.rail;
	size_t len = ((size_t)peer->nslots * BULK_LINK_MSG + 4095) &
		     ~(size_t)4095;
	int rc;

	if (!b->block) {
		b->block = aligned_alloc(4096, len);
		if (!b->block)
			return -ENOMEM;
		b->nrecv = peer->nslots;
		rail_mem_init(&b->mem, b->block, len, TP_LOCAL_WRITE);
	}
	rc = rail_mem_on(&b->mem, &peer->link.ctx->rails, rail);
	if (!rc)
		b->lkey = b->mem.mr[rail]->lkey;
	return rc;
}

static int connect_with_token(struct rpc_peer *peer,
			      const struct wire_apart *token)
{
	struct peer_private priv = {
		.wc = { .magic = htole32(WIRE_MAGIC),
			.version = htole16(WIRE_VERSION),
			.role = htole16((uint16_t)peer->role),
			.fsid = htole64(peer->fsid),
			.session = htole64(peer->session),
			.epoch = htole32(peer->epoch),
			.reply_max = htole32(BULK_LINK_MSG) },
		.hail.features = htole32(WIRE_FT_APART),
	};

	memcpy(priv.hail.nonce, token->token, sizeof(priv.hail.nonce));
	return tp_connect(peer->bulk.link.ep, &peer->at, &priv, sizeof(priv),
			  clock_after_ms(PEER_TRY_MS));
}

/* Returns true: calls may be sent. */
static bool do_without(struct rpc_peer *peer, int status)
{
	peer->bulk.missing = true;
	log_warn(peer->link.ctx->log,
		 "%s: no second connection for bulk data: %s; it goes with "
		 "requests",
		 peer->name, strerror(-status));
	link_close(&peer->bulk.link);
	peer->bulk.joining = false;
	return true;
}

bool bulk_link_join(struct rpc_peer *peer, const struct wire_apart *token)
{
	struct bulk_link *b = &peer->bulk;
	unsigned int i;
	int rc;

	b->joining = true;
	rpc_timer_set(peer->link.ctx, &peer->timer,
		      clock_after_ms(PEER_HELLO_MS));
	rc = prepare_memory(peer);
	if (!rc)
		rc = link_open(&b->link, peer->link.rail, 1, peer->nslots);
	for (i = 0; !rc && i < b->nrecv; i++)
		rc = bulk_link_post_recv(peer, i);
	if (!rc)
		rc = connect_with_token(peer, token);
	return rc ? do_without(peer, rc) : false;
}

bool bulk_link_event(struct rpc_peer *peer, const struct tp_event *ev)
{
	int status = ev->status ? ev->status : -ECONNRESET;

	if (!peer->bulk.joining) {
		link_fail(&peer->link, status);
		return false;
	}
	if (ev->type != TP_EV_ESTABLISHED)
		return do_without(peer, ev->type == TP_EV_REJECTED
						? -ECONNREFUSED
						: status);
	peer->bulk.failures = 0;
	peer->bulk.joining = false;
	log_debug(peer->link.ctx->log,
		  "%s: bulk data over a connection of its own", peer->name);
	return true;
}

bool bulk_link_lost(struct rpc_peer *peer, int status)
{
	if (peer->bulk.joining)
		return do_without(peer, status);
	link_fail(&peer->link, status);
	return false;
}

/* ---- in use ---- */

void bulk_link_count(struct rpc_peer *peer)
{
	peer->bulk.failures += peer->bulk.missing;
	peer->bulk.missing = false;
}

void *bulk_link_recv_buf(const struct rpc_peer *peer, unsigned int index)
{
	return peer->bulk.block + (size_t)index * BULK_LINK_MSG;
}

int bulk_link_post_recv(struct rpc_peer *peer, unsigned int index)
{
	struct tp_recv_wr wr = {
		.wr_id = peer->nrecv + index,
		.sge = { .addr = bulk_link_recv_buf(peer, index),
			 .len = BULK_LINK_MSG,
			 .lkey = peer->bulk.lkey },
	};

	return tp_post_recv(peer->bulk.link.ep, &wr);
}

void bulk_link_close(struct rpc_peer *peer)
{
	link_close(&peer->bulk.link);
	peer->bulk.joining = false;
	peer->bulk.missing = false;
}

void bulk_link_fini(struct rpc_peer *peer)
{
	rail_mem_fini(&peer->bulk.mem);
	free(peer->bulk.block);
}

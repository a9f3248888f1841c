/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_info.c - what a program may ask about a peer, and texts for messages. */
#include <errno.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/transport/tp_seal.h"

const char *peer_error_text(int status)
{
	if (status == -EAGAIN)
		return "it runs but takes no clients yet: the manager until it "
		       "has heard from all iods, an iod until it has from the "
		       "manager, either while it has max_sessions; its log "
		       "says which";
	if (status == -WIRE_ENOFILES)
		return RPC_NO_FILES;
	if (status == -WIRE_ENOSEATS)
		return RPC_NO_SEATS;
	if (status == -WIRE_ENOTLEADER)
		return "none of its managers leads now: a majority of them has "
		       "to run and reach each other";
	if (!status)
		return "it has said nothing yet";
	if (status == -EPROTOTYPE)
		return "not a PVFS server";
	if (status == -EINPROGRESS)
		return "its host's name is still being looked up; see the "
		       "resolver";
	return strerror(-status);
}

void peer_log_loss(struct rpc_peer *peer, int status)
{
	peer->reason = status;
	if (peer->down || (peer->impatient && !peer->boot))
		return;
	peer->down = true;
	peer->down_since = clock_now();
	log_warn(peer->link.ctx->log, "%s: %s: %s; trying again%s", peer->name,
		 peer->state == PEER_READY ? "connection lost"
					   : "cannot connect",
		 peer_error_text(status), peer->unknown_host);
}

void peer_protocol_error(struct rpc_peer *peer, const char *what)
{
	log_error(peer->link.ctx->log,
		  "%s: protocol error in a reply: %s; connection closed",
		  peer->name, what);
	link_fail(&peer->link, -EPROTO);
}

const char *rpc_peer_name(const struct rpc_peer *peer)
{
	return peer->name;
}

const struct addr *rpc_peer_addr(const struct rpc_peer *peer)
{
	return &peer->addr;
}

const char *rpc_peer_transport(const struct rpc_peer *peer)
{
	if (peer->choice.rail < 0)
		return "-";
	return tp_dev_name(peer->link.ctx->rails.dev[peer->choice.rail]);
}

const char *rpc_peer_reason(const struct rpc_peer *peer)
{
	return peer->choice.reason;
}

bool rpc_peer_ready(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY;
}

uint32_t rpc_peer_features(const struct rpc_peer *peer)
{
	return atomic_load(&peer->agreed);
}

uint32_t rpc_peer_epoch(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY ? peer->epoch : 0;
}

uint32_t rpc_peer_term(const struct rpc_peer *peer)
{
	return peer->epoch;
}

uint64_t rpc_peer_boot(const struct rpc_peer *peer)
{
	return peer->boot;
}

uint64_t rpc_peer_server_time(const struct rpc_peer *peer, uint64_t when)
{
	return clock_offset_convert(&peer->clock, when);
}

bool rpc_peer_seals(const struct rpc_peer *peer)
{
	const struct rpc_link *link = &peer->link;

	return link->ep && tp_dev_seals(link->ctx->rails.dev[link->rail]);
}

enum seal_mode rpc_peer_seal(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY ? peer->seal.mode : SEAL_NONE;
}

uint32_t rpc_peer_inline_max(const struct rpc_peer *peer)
{
	return peer->link.ctx->rail[peer->link.rail].inline_max;
}

bool rpc_peer_evicted(const struct rpc_peer *peer)
{
	return atomic_load(&peer->evicted);
}

bool rpc_peer_has_unanswered(const struct rpc_peer *peer)
{
	return peer->unanswered > 0;
}

int rpc_peer_shortage(const struct rpc_peer *peer)
{
	return peer->shortage;
}

void rpc_peer_set_unclean(struct rpc_peer *peer)
{
	peer->unclean = true;
}

void rpc_peer_set_recorded(struct rpc_peer *peer)
{
	atomic_store(&peer->recorded, true);
}

int rpc_peer_take_fds(struct rpc_peer *peer, int *fd, unsigned int n)
{
	return peer->link.ep ? tp_ep_take(peer->link.ep, fd, n) : -ENOTCONN;
}

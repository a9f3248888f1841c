/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choose.c - over which rail a client reaches a server.  Each connection is a
 * new choice: the rails in their order, the first on which the server answers.
 * The reason names what was better and did not do.
 */
#include <errno.h>
#include <string.h>

#include "fabric.h"
#include "peer_int.h"

#define CHOOSE_MUTE 2 /* connections without a reply to HELLO, then another */

static const char *rail_name(const struct rpc_peer *peer, unsigned int rail)
{
	return tp_dev_name(peer->link.ctx->rails.dev[rail]);
}

static void choose_note(struct rpc_peer *peer, unsigned int rail,
			const char *what)
{
	char *why = peer->choice.why;
	size_t len = strlen(why);

	snprintf(why + len, sizeof(peer->choice.why) - len, "%s: %s; ",
		 rail_name(peer, rail), what);
}

void choose_begin(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;

	c->next = 0;
	c->host = 0;
	c->rail = -1;
	c->final = false;
	c->why[0] = '\0';
}

/* Why the rail is not even tried, or NULL. */
static const char *choose_skip(struct rpc_peer *peer, unsigned int rail)
{
	bool last = rail + 1 == peer->link.ctx->rails.n;

	if (fabric_is_local(rail_name(peer, rail)) &&
	    !fabric_here(&peer->hosts))
		return "another host";
	if (peer->choice.mute[rail] >= CHOOSE_MUTE && !last)
		return "connects, but the server does not answer";
	return NULL;
}

static int choose_named(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;

	if (c->next)
		return -1;
	c->next = RAILS_MAX;
	return fabric_rail(&peer->link.ctx->rails, peer->addr.scheme);
}

static int choose_any(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;

	while (c->next < peer->link.ctx->rails.n) {
		unsigned int rail = c->next++;
		const char *why = choose_skip(peer, rail);

		if (!why)
			return (int)rail;
		choose_note(peer, rail, why);
	}
	return -1;
}

/* The rail in use has another address. */
static bool choose_more_hosts(const struct rpc_peer *peer)
{
	return peer->choice.rail >= 0 && peer->choice.host < peer->hosts.n;
}

int choose_next(struct rpc_peer *peer, struct addr *addr)
{
	struct choice *c = &peer->choice;

	if (!choose_more_hosts(peer)) {
		c->host = 0;
		c->rail = fabric_any(&peer->addr) ? choose_any(peer)
						  : choose_named(peer);
	}
	if (c->rail < 0)
		return -1;
	fabric_addr(&peer->addr, &peer->link.ctx->rails, (unsigned int)c->rail,
		    addr);
	snprintf(addr->host, sizeof(addr->host), "%s",
		 peer->hosts.host[c->host++]);
	return c->rail;
}

bool choose_last(const struct rpc_peer *peer)
{
	if (peer->choice.final || peer->choice.rail < 0)
		return true;
	return !choose_more_hosts(peer) &&
	       peer->choice.next >= peer->link.ctx->rails.n;
}

/* Of a connect over the rail. */
static const char *choose_flaw(const struct rpc_peer *peer, unsigned int rail,
			       int status)
{
	if (status == -EACCES && fabric_is_local(rail_name(peer, rail)))
		return "its server's user is not trusted, see server_user= in "
		       "pvfstab(5)";
	return strerror(-status);
}

void choose_failed(struct rpc_peer *peer, int status)
{
	struct choice *c = &peer->choice;

	if (c->rail < 0)
		return;
	if (peer->state == PEER_CONNECTING && !choose_more_hosts(peer))
		choose_note(peer, (unsigned int)c->rail,
			    choose_flaw(peer, (unsigned int)c->rail, status));
	else if (peer->state == PEER_HELLO)
		c->mute[c->rail]++;
}

void choose_final(struct rpc_peer *peer)
{
	peer->choice.final = true;
}

static const char *choose_missing(const struct rpc_peer *peer)
{
	const struct fabric *fabric = peer->link.ctx->fabric;

	return fabric ? fabric->missing : "";
}

static void choose_reason(struct rpc_peer *peer)
{
	const struct fabric *fabric = peer->link.ctx->fabric;
	struct choice *c = &peer->choice;
	const char *missing = choose_missing(peer);
	size_t len;

	if (!fabric_any(&peer->addr))
		snprintf(c->reason, sizeof(c->reason),
			 "the address or fabric= says so");
	else if (fabric && !strncmp(fabric->option, "strict:", 7))
		snprintf(c->reason, sizeof(c->reason), "fabric=%s",
			 fabric->option);
	else if (fabric_is_local(rail_name(peer, (unsigned int)c->rail)))
		snprintf(c->reason, sizeof(c->reason), "same host");
	else
		snprintf(c->reason, sizeof(c->reason), "%.120s%.120s", c->why,
			 missing);
	len = strlen(c->reason);
	if (!len)
		snprintf(c->reason, sizeof(c->reason), "first of the fabric");
	else if (c->reason[len - 1] == ' ')
		c->reason[len - 2] = '\0';
}

void choose_ready(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;
	enum log_level level = c->said >= 0 && c->rail > c->said ? LOG_LV_WARN
								 : LOG_LV_INFO;

	c->mute[c->rail] = 0;
	choose_reason(peer);
	if (c->rail == c->said)
		return;
	log_msg(peer->link.ctx->log,
		fabric_any(&peer->addr) ? level : LOG_LV_DEBUG,
		"%s: over %s (%s)", peer->name,
		rail_name(peer, (unsigned int)c->rail), c->reason);
	c->said = c->rail;
}

const char *rpc_peer_transport(const struct rpc_peer *peer)
{
	if (peer->choice.rail < 0)
		return "-";
	return rail_name(peer, (unsigned int)peer->choice.rail);
}

bool rpc_peer_ready(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY;
}

const char *rpc_peer_reason(const struct rpc_peer *peer)
{
	return peer->choice.reason;
}

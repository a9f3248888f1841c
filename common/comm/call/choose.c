/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choose.c - over which rail a client reaches a server.  Each connection is a new choice: the
 * first rail, in their order, on which the server answers.  The reason names the better rails and
 * why they failed.
 *
 * With several devices of one transport, each server starts with another device, and each client
 * starts at another position:
 *
 *	server			0	1	2	3
 *	a client with two	A B	B A	A B	B A
 *	another one		B A	A B	B A	A B
 *
 * The first device starts with the first address of the server's host, the second device with the
 * second.  So adapters meet in pairs if both hosts list theirs in the same order.
 */
#include <errno.h>
#include <string.h>

#include "common/comm/fabric/fabric.h"
#include "common/comm/call/peer_int.h"

/* connects without a reply to HELLO before another rail is used */
#define CHOOSE_MUTE 2
/* delay until the first return to a better one, */
#define RETURN_FIRST_MS 1000u
#define RETURN_MAX_MS 64000u /* ... and the maximum delay */

static const char *rail_name(const struct rpc_peer *peer, unsigned int rail)
{
	return tp_dev_name(peer->link.ctx->rails.dev[rail]);
}

/* The first rail of the same transport; *n: how many there are. */
static unsigned int choose_group(const struct rpc_peer *peer, unsigned int at,
				 unsigned int *n)
{
	const struct rails *rails = &peer->link.ctx->rails;
	unsigned int first = at, end = at + 1;

	while (first &&
	       !strcmp(rail_name(peer, first - 1), rail_name(peer, at)))
		first--;
	while (end < rails->n &&
	       !strcmp(rail_name(peer, end), rail_name(peer, at)))
		end++;
	*n = end - first;
	return first;
}

/* The rail to try at position at. */
static unsigned int choose_turn(const struct rpc_peer *peer, unsigned int at)
{
	unsigned int n, first = choose_group(peer, at, &n);

	return first + (at - first + peer->turn) % n;
}

static const char *choose_host(const struct rpc_peer *peer, unsigned int rail,
			       unsigned int k)
{
	unsigned int n, unit = rail - choose_group(peer, rail, &n);

	return peer->hosts.host[(k + unit) % peer->hosts.n];
}

static void choose_note(struct rpc_peer *peer, unsigned int rail,
			const char *what)
{
	char *why = peer->choice.why;
	size_t len = strlen(why);

	const char *unit = tp_dev_unit(peer->link.ctx->rails.dev[rail]);

	snprintf(why + len, sizeof(peer->choice.why) - len, "%s%s%s: %s; ",
		 rail_name(peer, rail), *unit ? " " : "", unit, what);
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

/* Why the rail is not tried at all, or NULL. */
static const char *choose_skip(struct rpc_peer *peer, unsigned int rail,
			       bool last)
{
	if (fabric_is_local(rail_name(peer, rail)) &&
	    !fabric_here(&peer->hosts))
		return "another host";
	if (peer->choice.mute[rail] >= CHOOSE_MUTE && !last)
		return "connects, but the server does not answer";
	return NULL;
}

/* An address that names its transport leaves only that one. */
static bool choose_may(const struct rpc_peer *peer, unsigned int at)
{
	return fabric_any(&peer->addr) ||
	       !strcmp(rail_name(peer, at), peer->addr.scheme);
}

static bool choose_more_rails(const struct rpc_peer *peer)
{
	unsigned int at = peer->choice.next;

	while (at < peer->link.ctx->rails.n && !choose_may(peer, at))
		at++;
	return at < peer->link.ctx->rails.n;
}

static int choose_rail(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;

	while (c->next < peer->link.ctx->rails.n) {
		unsigned int at = c->next++, rail = choose_turn(peer, at);
		const char *why;

		if (!choose_may(peer, at))
			continue;
		why = fabric_any(&peer->addr)
			      ? choose_skip(peer, rail,
					    !choose_more_rails(peer))
			      : NULL;
		if (!why)
			return (int)rail;
		choose_note(peer, rail, why);
	}
	return -1;
}

/* The rail in use has another address to try. */
static bool choose_more_hosts(const struct rpc_peer *peer)
{
	return peer->choice.rail >= 0 && peer->choice.host < peer->hosts.n;
}

int choose_next(struct rpc_peer *peer, struct addr *addr)
{
	struct choice *c = &peer->choice;

	if (!choose_more_hosts(peer)) {
		c->host = 0;
		c->rail = choose_rail(peer);
	}
	if (c->rail < 0)
		return -1;
	fabric_addr(&peer->addr, &peer->link.ctx->rails, (unsigned int)c->rail,
		    addr);
	snprintf(addr->host, sizeof(addr->host), "%s",
		 choose_host(peer, (unsigned int)c->rail, c->host));
	c->host++;
	return c->rail;
}

bool choose_last(const struct rpc_peer *peer)
{
	if (peer->choice.final || peer->choice.rail < 0)
		return true;
	return !choose_more_hosts(peer) && !choose_more_rails(peer);
}

/* Describes the status of a connect over the rail. */
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
	c->barred |= status == -EACCES;
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

static void choose_unit(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;
	const char *unit = tp_dev_unit(peer->link.ctx->rails.dev[c->rail]);
	size_t len = strlen(c->reason);

	if (*unit)
		snprintf(c->reason + len, sizeof(c->reason) - len, ", by %s",
			 unit);
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
	choose_unit(peer);
}

/* Devices of one transport have the same rank. */
static int choose_rank(const struct rpc_peer *peer)
{
	unsigned int n;

	return (int)choose_group(peer, (unsigned int)peer->choice.rail, &n);
}

/*
 * The rail of local if the server announces it, also if it was not ready when it was tried; or
 * -1.
 */
static int choose_offered(const struct rpc_peer *peer)
{
	const struct rails *rails = &peer->link.ctx->rails;
	unsigned int i;

	if (!(rpc_peer_features(peer) & WIRE_FT_LOCAL) || peer->choice.barred ||
	    !fabric_here(&peer->hosts))
		return -1;
	for (i = 0; i < rails->n; i++) {
		if (fabric_is_local(rail_name(peer, i)) && choose_may(peer, i))
			return (int)i;
	}
	return -1;
}

static void choose_learn(struct rpc_peer *peer, int rank)
{
	struct choice *c = &peer->choice;

	if (rank >= 0 && (c->best < 0 || rank < c->best))
		c->best = rank;
}

unsigned int choose_return_ms(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;

	if (choose_rank(peer) <= c->best)
		c->return_ms = 0;
	else if (!c->return_ms)
		c->return_ms = RETURN_FIRST_MS;
	else if (c->return_ms < RETURN_MAX_MS)
		c->return_ms *= 2;
	return c->return_ms;
}

void choose_return(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;
	int i;

	c->returning = true;
	for (i = c->best; i < c->rail; i++)
		if (c->mute[i] >= CHOOSE_MUTE)
			c->mute[i] = CHOOSE_MUTE - 1;
}

void choose_ready(struct rpc_peer *peer)
{
	struct choice *c = &peer->choice;
	enum log_level level = c->said >= 0 && c->rail > c->said ? LOG_LV_WARN
								 : LOG_LV_INFO;

	c->mute[c->rail] = 0;
	c->returning = false;
	choose_learn(peer, choose_rank(peer));
	choose_learn(peer, choose_offered(peer));
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

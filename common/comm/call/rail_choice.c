/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rail_choice.c - chooses the rail over which a client reaches a server.  Each connection makes a
 * new choice: the first rail, in order of preference, on which the server answers.  The reason (for
 * log lines) names the better rails and why they failed.
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
#define SILENT_CONNECTS_MAX 2
/* delay until the first return to a better one, */
#define RETURN_FIRST_MS 1000u
#define RETURN_MAX_MS 64000u /* ... and the maximum delay */

static const char *rail_name(const struct rpc_peer *peer, unsigned int rail)
{
	return tp_dev_name(peer->link.ctx->rails.dev[rail]);
}

static bool is_local(const struct rpc_peer *peer, unsigned int rail)
{
	return fabric_is_local(rail_name(peer, rail));
}

/* The first rail of the same transport; *n: how many there are. */
static unsigned int first_of_transport(const struct rpc_peer *peer,
				       unsigned int at, unsigned int *n)
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
static unsigned int rail_at(const struct rpc_peer *peer, unsigned int at)
{
	unsigned int n, first = first_of_transport(peer, at, &n);

	return first + (at - first + peer->turn) % n;
}

static const char *host_at(const struct rpc_peer *peer, unsigned int rail,
			   unsigned int k)
{
	unsigned int n, unit = rail - first_of_transport(peer, rail, &n);

	return peer->hosts.host[(k + unit) % peer->hosts.n];
}

static void add_note(struct rpc_peer *peer, unsigned int rail, const char *what)
{
	char *why = peer->choice.why;
	size_t len = strlen(why);

	const char *unit = tp_dev_unit(peer->link.ctx->rails.dev[rail]);

	snprintf(why + len, sizeof(peer->choice.why) - len, "%s%s%s: %s; ",
		 rail_name(peer, rail), *unit ? " " : "", unit, what);
}

void rail_choice_begin(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;

	c->next = 0;
	c->host = 0;
	c->rail = -1;
	c->final = false;
	c->local_refused = false;
	c->why[0] = '\0';
}

void rail_choice_forget(struct rpc_peer *peer)
{
	peer->choice =
		(struct rail_choice){ .rail = -1, .logged = -1, .best = -1 };
}

/* Why the rail is not tried at all, or NULL. */
static const char *reason_to_skip(struct rpc_peer *peer, unsigned int rail,
				  bool last)
{
	if (is_local(peer, rail) && !fabric_here(&peer->hosts))
		return "another host";
	if (peer->choice.silent[rail] >= SILENT_CONNECTS_MAX && !last)
		return "connects, but the server does not answer";
	return NULL;
}

/* An address that names its transport leaves only that one. */
static bool is_permitted(const struct rpc_peer *peer, unsigned int at)
{
	return fabric_any(&peer->addr) ||
	       !strcmp(rail_name(peer, at), peer->addr.scheme);
}

static bool has_more_rails(const struct rpc_peer *peer)
{
	unsigned int at = peer->choice.next;

	while (at < peer->link.ctx->rails.n && !is_permitted(peer, at))
		at++;
	return at < peer->link.ctx->rails.n;
}

static int next_rail(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;

	while (c->next < peer->link.ctx->rails.n) {
		unsigned int at = c->next++, rail = rail_at(peer, at);
		const char *why;

		if (!is_permitted(peer, at))
			continue;
		why = fabric_any(&peer->addr)
			      ? reason_to_skip(peer, rail,
					       !has_more_rails(peer))
			      : NULL;
		if (!why)
			return (int)rail;
		add_note(peer, rail, why);
	}
	return -1;
}

/* The rail in use has another address to try. */
static bool has_more_hosts(const struct rpc_peer *peer)
{
	return peer->choice.rail >= 0 && peer->choice.host < peer->hosts.n;
}

int rail_choice_next(struct rpc_peer *peer, struct addr *addr)
{
	struct rail_choice *c = &peer->choice;

	if (!has_more_hosts(peer)) {
		c->host = 0;
		c->rail = next_rail(peer);
	}
	if (c->rail < 0)
		return -1;
	fabric_addr(&peer->addr, &peer->link.ctx->rails, (unsigned int)c->rail,
		    addr);
	snprintf(addr->host, sizeof(addr->host), "%s",
		 host_at(peer, (unsigned int)c->rail, c->host));
	c->host++;
	return c->rail;
}

bool rail_choice_is_last(const struct rpc_peer *peer)
{
	if (peer->choice.final || peer->choice.rail < 0)
		return true;
	return !has_more_hosts(peer) && !has_more_rails(peer);
}

/* Describes the status of a connect over the rail. */
static const char *connect_error_text(const struct rpc_peer *peer,
				      unsigned int rail, int status)
{
	if (status == -EACCES && is_local(peer, rail))
		return "its server's user is not trusted, see server_user= in "
		       "pvfstab(5)";
	return strerror(-status);
}

void rail_choice_failed(struct rpc_peer *peer, int status)
{
	struct rail_choice *c = &peer->choice;

	if (c->rail < 0)
		return;
	if (status == -EACCES && is_local(peer, (unsigned int)c->rail))
		c->local_refused = true;
	if (peer->state == PEER_CONNECTING && !has_more_hosts(peer))
		add_note(peer, (unsigned int)c->rail,
			 connect_error_text(peer, (unsigned int)c->rail,
					    status));
	else if (peer->state == PEER_HELLO)
		c->silent[c->rail]++;
}

void rail_choice_stop(struct rpc_peer *peer)
{
	peer->choice.final = true;
}

static void append_device(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;
	const char *unit = tp_dev_unit(peer->link.ctx->rails.dev[c->rail]);
	size_t len = strlen(c->reason);

	if (*unit)
		snprintf(c->reason + len, sizeof(c->reason) - len, ", by %s",
			 unit);
}

static void set_reason(struct rpc_peer *peer)
{
	const struct fabric *fabric = peer->link.ctx->fabric;
	struct rail_choice *c = &peer->choice;
	const char *missing = fabric ? fabric->missing : "";
	size_t len;

	if (!fabric_any(&peer->addr))
		snprintf(c->reason, sizeof(c->reason),
			 "the address or fabric= says so");
	else if (fabric && !strncmp(fabric->option, "strict:", 7))
		snprintf(c->reason, sizeof(c->reason), "fabric=%s",
			 fabric->option);
	else if (is_local(peer, (unsigned int)c->rail))
		snprintf(c->reason, sizeof(c->reason), "same host");
	else
		snprintf(c->reason, sizeof(c->reason), "%.120s%.120s", c->why,
			 missing);
	len = strlen(c->reason);
	if (!len)
		snprintf(c->reason, sizeof(c->reason), "first of the fabric");
	else if (c->reason[len - 1] == ' ')
		c->reason[len - 2] = '\0';
	append_device(peer);
}

/* Devices of one transport have the same rank. */
static int rank_in_use(const struct rpc_peer *peer)
{
	unsigned int n;

	return (int)first_of_transport(peer, (unsigned int)peer->choice.rail,
				       &n);
}

/*
 * The rail of the local transport if the server announces it, even if it was not ready when it was
 * tried; otherwise -1.
 */
static int local_rail_offered(const struct rpc_peer *peer)
{
	const struct rails *rails = &peer->link.ctx->rails;
	unsigned int i;

	if (!(rpc_peer_features(peer) & WIRE_FT_LOCAL) ||
	    peer->choice.local_refused || !fabric_here(&peer->hosts))
		return -1;
	for (i = 0; i < rails->n; i++) {
		if (is_local(peer, i) && is_permitted(peer, i))
			return (int)i;
	}
	return -1;
}

static void note_best(struct rpc_peer *peer, int rank)
{
	struct rail_choice *c = &peer->choice;

	if (rank >= 0 && (c->best < 0 || rank < c->best))
		c->best = rank;
}

unsigned int rail_choice_return_ms(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;

	if (rank_in_use(peer) <= c->best)
		c->return_ms = 0;
	else if (!c->return_ms)
		c->return_ms = RETURN_FIRST_MS;
	else if (c->return_ms < RETURN_MAX_MS)
		c->return_ms *= 2;
	return c->return_ms;
}

void rail_choice_return(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;
	int i;

	c->returning = true;
	for (i = c->best; i < c->rail; i++)
		if (c->silent[i] >= SILENT_CONNECTS_MAX)
			c->silent[i] = SILENT_CONNECTS_MAX - 1;
}

void rail_choice_ready(struct rpc_peer *peer)
{
	struct rail_choice *c = &peer->choice;
	enum log_level level = c->logged >= 0 && c->rail > c->logged
				       ? LOG_LV_WARN
				       : LOG_LV_INFO;

	c->silent[c->rail] = 0;
	c->returning = false;
	note_best(peer, rank_in_use(peer));
	note_best(peer, local_rail_offered(peer));
	set_reason(peer);
	if (c->rail == c->logged)
		return;
	log_msg(peer->link.ctx->log,
		fabric_any(&peer->addr) ? level : LOG_LV_DEBUG,
		"%s: over %s (%s)", peer->name,
		rail_name(peer, (unsigned int)c->rail), c->reason);
	c->logged = c->rail;
}

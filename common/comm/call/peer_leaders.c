/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_leaders.c - a peer that is one of several managers: which address it tries, and for how
 * long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

static void set_name(struct rpc_peer *peer, const struct rpc_peer_attr *attr)
{
	char uri[ADDR_STRLEN], others[24] = "";

	if (attr->nmanagers > 1)
		snprintf(others, sizeof(others), " or %u other%s",
			 attr->nmanagers - 1, attr->nmanagers > 2 ? "s" : "");
	snprintf(peer->name, sizeof(peer->name), "%.64s (%s%s)", attr->name,
		 addr_format(&attr->addr, uri, sizeof(uri)), others);
}

int peer_leaders_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr)
{
	peer->addr = attr->addr;
	peer->try_until = CLOCK_NEVER;
	set_name(peer, attr);
	if (!attr->nmanagers)
		return 0;
	peer->leaders = malloc(sizeof(*peer->leaders));
	if (!peer->leaders)
		return -ENOMEM;
	leader_search_init(peer->leaders, attr->managers, attr->nmanagers);
	peer->features |= WIRE_FT_LEADER;
	return 0;
}

bool peer_leaders_have_choice(const struct rpc_peer *peer)
{
	return peer->leaders && leader_search_has_choice(peer->leaders);
}

/* Logged when the problem begins, not at each attempt. */
void peer_leaders_note_unknown(struct rpc_peer *peer, const char *host,
			       const char *why)
{
	bool is_one = !peer_leaders_have_choice(peer);

	if (!peer->down)
		log_msg(peer->link.ctx->log,
			is_one ? LOG_LV_ERROR : LOG_LV_INFO,
			"%s: host \"%s\": %s; correct the name or the resolver",
			peer->name, host, why);
	if (!is_one)
		snprintf(peer->unknown_host, sizeof(peer->unknown_host),
			 "; host \"%.64s\": %.64s; correct the name or the "
			 "resolver",
			 host, why);
}

uint32_t peer_leaders_pause_ms(const struct rpc_peer *peer)
{
	return peer_leaders_have_choice(peer) ? PEER_SEARCH_PAUSE_MS
					      : PEER_BACKOFF_MAX_MS;
}

static bool is_same_server(const struct addr *a, const struct addr *b)
{
	return a->port == b->port && !strcmp(a->host, b->host) &&
	       !strcmp(a->scheme, b->scheme);
}

void peer_leaders_choose(struct rpc_peer *peer)
{
	struct leader_search *s = peer->leaders;

	if (!s)
		return;
	if (!s->searching)
		leader_search_begin(s);
	if (!is_same_server(&peer->addr, leader_search_chosen(s))) {
		peer->addr = *leader_search_chosen(s);
		rail_choice_forget(peer);
	}
	peer->try_began = clock_now();
	peer->try_until = CLOCK_NEVER;
	if (!peer_leaders_have_choice(peer))
		return;
	peer->try_until = clock_after_ms(s->try_ms);
	rpc_timer_set(peer->link.ctx, &peer->timer, peer->try_until);
}

/* With several managers, each gets little time.  If it suffices, the rails share it. */
unsigned int peer_attempt_ms(const struct rpc_peer *peer)
{
	bool is_last = rail_choice_is_last(peer);
	uint64_t now = clock_now();
	unsigned int left;

	if (peer->try_until == CLOCK_NEVER) {
		if (is_last)
			return PEER_HELLO_MS;
		return peer->choice.returning ? PEER_RETURN_MS : PEER_TRY_MS;
	}
	left = peer->try_until > now ? (unsigned int)((peer->try_until - now) /
						      CLOCK_NS_PER_MS)
				     : 0;
	if (!is_last && peer->leaders->try_ms > 4 * LEADER_TRY_MS)
		left /= 2;
	return left + 1;
}

/* The server knows the session, so no other manager accepts it. */
static bool concerns_session(int status)
{
	return status == -ESTALE || status == -EKEYREVOKED || status == -EPERM;
}

bool peer_leaders_is_next(struct rpc_peer *peer, int *status, bool is_final)
{
	struct leader_search *s = peer->leaders;
	char uri[ADDR_STRLEN];

	if (!s || !s->searching || *status == -EBADFD ||
	    (is_final && concerns_session(*status)))
		return false;
	if (peer_leaders_have_choice(peer))
		log_debug(peer->link.ctx->log, "%s: %s: %s", peer->name,
			  addr_format(&peer->addr, uri, sizeof(uri)),
			  peer_error_text(*status));
	if (leader_search_is_next(s, *status, is_final))
		return true;
	*status = s->status;
	return false;
}

/* If all addresses refuse the connection, another round is useless. */
bool peer_leaders_may_repeat(struct rpc_peer *peer, int status)
{
	if (!peer_leaders_have_choice(peer) || status == -ECONNREFUSED ||
	    peer->repeated >= peer->more_rounds)
		return false;
	peer->repeated++;
	return true;
}

void peer_leaders_stop(struct rpc_peer *peer)
{
	peer->repeated = 0;
	if (peer->leaders)
		peer->leaders->searching = false;
}

void peer_leaders_found(struct rpc_peer *peer, bool is_new)
{
	uint64_t took = clock_now() - peer->try_began;
	char uri[ADDR_STRLEN];

	peer->unknown_host[0] = '\0';
	if (!peer->leaders)
		return;
	leader_search_found(peer->leaders,
			    (unsigned int)(took / CLOCK_NS_PER_MS));
	if (is_new && peer_leaders_have_choice(peer))
		log_info(peer->link.ctx->log, "%s: %s leads", peer->name,
			 addr_format(&peer->addr, uri, sizeof(uri)));
}

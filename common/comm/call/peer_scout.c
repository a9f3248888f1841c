/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_scout.c - while the manager of a connection is silent, asks the other managers who leads.
 *
 * A client cannot distinguish a manager that is cut off or stopped from one that is overloaded.
 * But if it is cut off or stopped, the other managers elect another leader.  So a second peer, with
 * a session of its own, searches for a leader other than the silent manager, and sends it a PING.
 * When this PING is answered, the client closes the connection to the silent manager.  Until then
 * the connection stays, and no request is sent again.
 */
#include <errno.h>

#include "common/comm/call/call_int.h"
#include "common/util/random_id.h"

/* Between rounds, at least; they become rarer as the silence lasts. */
#define SCOUT_PAUSE_MS 400u
#define SCOUT_PAUSE_PART 4u

static bool is_silent(const struct rpc_peer *peer)
{
	const struct silence *s = &peer->silence;

	return peer->state == PEER_READY && s->since && s->pinging;
}

static void scout_close(struct rpc_peer *peer)
{
	struct rpc_peer *scout = peer->scout.peer;

	rpc_timer_clear(peer->link.ctx, &peer->scout.timer);
	peer->scout.peer = NULL;
	if (scout)
		peer_close(scout, true);
}

static void scout_plan(struct rpc_peer *peer)
{
	uint64_t silent = (clock_now() - peer->silence.since) / CLOCK_NS_PER_MS;
	uint32_t ms = SCOUT_PAUSE_MS;

	if (silent / SCOUT_PAUSE_PART > ms)
		ms = (uint32_t)(silent / SCOUT_PAUSE_PART);
	rpc_timer_set(peer->link.ctx, &peer->scout.timer,
		      clock_after_ms(peer_jitter(peer, ms)));
}

/* Without our proof: it belongs to our session.  A false answer costs one vain connect. */
static int scout_open(struct rpc_peer *peer)
{
	const struct leader_search *s = peer->leaders;
	bool room = s->has_named && s->n < WIRE_MGR_MAX;
	struct rpc_peer_attr attr = { .addr = s->mgr[0],
				      .managers = s->mgr,
				      .nmanagers = s->n + room,
				      .name = "another manager",
				      .role = peer->role,
				      .server = peer->silence.server,
				      .fsid = peer->fsid,
				      .cred = &peer->cred,
				      .impatient = true };
	int rc = random_id(&attr.session);

	if (!rc)
		rc = peer_open(peer->link.ctx, &attr, &peer->scout.peer);
	if (!rc &&
	    !leader_search_exclude(peer->scout.peer->leaders, &peer->addr))
		rc = -ENOENT;
	return rc;
}

static void scout_done(struct rpc_call *call)
{
	struct rpc_peer *peer = call->arg, *scout = peer->scout.peer;
	bool leads = scout && scout->state == PEER_READY && !call->unsure;

	if (!scout)
		return;
	if (leads && is_silent(peer))
		leader_search_prefer(peer->leaders, &scout->addr);
	if (leads || !is_silent(peer) || scout->boot)
		scout_close(peer);
	if (!is_silent(peer))
		return;
	if (leads)
		link_fail(&peer->link, -ETIMEDOUT);
	else
		scout_plan(peer);
}

/* Starts a round: sends a PING, for which the scout tries each of the other managers once. */
static void scout_ask(struct rpc_peer *peer)
{
	struct peer_scout *scout = &peer->scout;
	struct wire_out out;

	wire_begin(&out, scout->msg, sizeof(scout->msg));
	wire_end(&out, WIRE_PING, 0, 0);
	scout->ping = (struct rpc_call){ .msg = scout->msg,
					 .msg_len = out.len,
					 .deadline = clock_after_ms(
						 SILENCE_ANSWER_MS),
					 .patient = true,
					 .quiet = true,
					 .done = scout_done,
					 .arg = peer };
	rpc_call_start(scout->peer, &scout->ping);
}

static void scout_due(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer,
					     scout.timer);

	if (!is_silent(peer))
		scout_close(peer);
	else if (peer->scout.peer && peer->scout.ping.p.peer)
		return; /* a round is in progress */
	else if (peer->scout.peer || !scout_open(peer))
		scout_ask(peer);
	else
		scout_close(peer);
}

void peer_scout_init(struct rpc_peer *peer)
{
	peer->scout.timer.fire = scout_due;
}

void peer_scout_end(struct rpc_peer *peer)
{
	scout_close(peer);
}

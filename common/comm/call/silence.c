/* SPDX-License-Identifier: BSD-2-Clause */
/* silence.c - see silence_int.h. */
#include "common/comm/call/peer_int.h"

uint64_t silence_ping_time(const struct silence *s)
{
	unsigned int ms = s->patience_ms / SILENCE_PING_PART;

	if (!s->patience_ms || ms > SILENCE_PING_MAX_MS)
		ms = SILENCE_PING_MAX_MS;
	return s->since + ms * CLOCK_NS_PER_MS;
}

void silence_plan_ping(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;

	if (!s->ping_timer.armed && !s->pinging)
		rpc_timer_set(peer->link.ctx, &s->ping_timer,
			      silence_ping_time(s));
}

static uint64_t ms_since(uint64_t when)
{
	return (clock_now() - when) / CLOCK_NS_PER_MS;
}

/* The server owes an answer from now on. */
static void begin_silence(struct rpc_peer *peer)
{
	peer->silence.since = clock_now();
	silence_plan_ping(peer);
}

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server)
{
	peer->silence.patience_ms = patience_ms;
	peer->silence.server = server;
	peer->silence.answer_ms = SILENCE_ANSWER_MS;
	peer->silence.scout_ms = SILENCE_SCOUT_MS;
}

void silence_end(struct rpc_peer *peer)
{
	rpc_timer_clear(peer->link.ctx, &peer->silence.ping_timer);
	rpc_timer_clear(peer->link.ctx, &peer->silence.answer_timer);
}

/* ---- calls ---- */

/* There is no connection, or a PING is not answered.  Otherwise a call may only be slow. */
static bool is_silent(const struct rpc_peer *peer)
{
	const struct silence *s = &peer->silence;

	return s->since && (s->pinging || peer->state != PEER_READY);
}

static void log_silence(struct rpc_peer *peer, uint64_t now)
{
	struct silence *s = &peer->silence;

	if (s->logged)
		return;
	s->logged = true;
	log_error(
		peer->link.ctx->log,
		"%s: has not said anything for %llu s; calls fail at once until "
		"it does%s%s",
		peer->name,
		(unsigned long long)((now - s->since) /
				     (1000 * CLOCK_NS_PER_MS)),
		peer->fix ? "; " : "", peer->fix ? peer->fix : "");
}

static bool shorten_deadline(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;
	uint64_t now = clock_now();
	uint64_t end = s->since +
		       (s->patience_ms + SILENCE_GRACE_MS) * CLOCK_NS_PER_MS;

	if (now >= end) {
		log_silence(peer, now);
		return false;
	}
	if (call->deadline > end)
		call->deadline = end;
	return true;
}

bool silence_limit_call(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;

	if ((!s->patience_ms && !s->server) || call->patient)
		return true;
	if (s->patience_ms && is_silent(peer) && !shorten_deadline(peer, call))
		return false;
	call->p.answer_due = true;
	s->answers_due++;
	if (!s->since)
		begin_silence(peer);
	return true;
}

void silence_done(struct rpc_peer *peer, struct rpc_call *call)
{
	peer->silence.answers_due -= call->p.answer_due;
	call->p.answer_due = false;
}

/* ---- messages from the server ---- */

void silence_reset(struct rpc_peer *peer)
{
	peer->silence.since = 0;
	peer->silence.logged = false;
}

void silence_over(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;

	if (call)
		silence_done(peer, call);
	if (!s->since)
		return;
	if (s->scout_ms > SILENCE_SCOUT_MS &&
	    ms_since(s->since) < SILENCE_QUICK_MS)
		s->scout_ms = SILENCE_SCOUT_MS;
	if (s->logged)
		log_info(peer->link.ctx->log, "%s: answers again", peer->name);
	silence_reset(peer);
	if (s->answers_due)
		begin_silence(peer);
}

/* From now on, the server owes an answer to the calls that it was answering slowly. */
void silence_connection_lost(struct rpc_peer *peer)
{
	if (!peer->silence.since && peer->silence.answers_due)
		begin_silence(peer);
}

void silence_ping_began(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;

	s->pinging = true;
	s->replaced = false;
	s->ping_began = clock_now();
	s->ping_epoch = peer->epoch;
}

/* An answer on a later connection says nothing about how slow this server is. */
void silence_ping_answered(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;
	uint64_t ms = SILENCE_SCOUT_PINGS * ms_since(s->ping_began);

	s->pinging = false;
	if (!s->replaced)
		s->answer_ms = SILENCE_ANSWER_MS;
	if (ms < SILENCE_SCOUT_MS || s->ping_epoch != peer->epoch)
		ms = SILENCE_SCOUT_MS;
	s->scout_ms = ms < SILENCE_ANSWER_MS ? (unsigned int)ms
					     : SILENCE_ANSWER_MS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* silence.c - see silence_int.h. */
#include <errno.h>

#include "common/comm/call/peer_int.h"
#include "common/transport/stream.h"

/* A PING is sent after an eighth of the patience without an answer. */
#define SOON 8u
#define SOON_MAX_MS 500u
/* Deadline of the PING; then a new one is made. */
#define PING_MS 3600000u

static uint64_t soon(const struct silence *s)
{
	unsigned int ms = s->patience_ms / SOON;

	if (!s->patience_ms || ms > SOON_MAX_MS)
		ms = SOON_MAX_MS;
	return s->since + ms * CLOCK_NS_PER_MS;
}

static void watch(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;

	if (!s->timer.armed && !s->asked)
		rpc_timer_set(peer->link.ctx, &s->timer, soon(s));
}

/* The server owes an answer from now on. */
static void begin(struct rpc_peer *peer)
{
	peer->silence.since = clock_now();
	watch(peer);
}

/* ---- the PING ---- */

static void ping_done(struct rpc_call *call)
{
	struct rpc_peer *peer = call->arg;
	struct silence *s = &peer->silence;

	if (!s->unanswered)
		s->answer_ms = SILENCE_ANSWER_MS;
	s->asked = false;
	rpc_timer_clear(peer->link.ctx, &s->end);
	if (s->since && peer->state != PEER_CLOSED)
		watch(peer);
}

static void ping(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;
	struct wire_out out;

	wire_begin(&out, s->msg, sizeof(s->msg));
	wire_end(&out, WIRE_PING, 0, 0);
	s->asked = true;
	s->unanswered = false;
	s->ping = (struct rpc_call){ .msg = s->msg,
				     .msg_len = out.len,
				     .deadline = clock_after_ms(PING_MS),
				     .patient = true,
				     .urgent = true,
				     .quiet = true,
				     .done = ping_done,
				     .arg = peer };
	rpc_call_start(peer, &s->ping);
	s->sent = call_has_slot(&s->ping) ? clock_now() : 0;
	if (s->server)
		rpc_timer_set(peer->link.ctx, &s->end,
			      clock_after_ms(SILENCE_ANSWER_MS));
}

/* Since then, the server owes an answer on this connection and has the PING. */
static uint64_t unanswered_since(const struct silence *s)
{
	return s->since > s->sent ? s->since : s->sent;
}

/* All that was sent has arrived, and nothing was received. */
static bool is_quiet(const struct rpc_peer *peer, unsigned int ms)
{
	return peer->silence.server == WIRE_ROLE_MGR ||
	       tp_ep_quiet_ms(peer->link.ep) >= ms;
}

/*
 * A PING without a slot says nothing about the connection.  The next connection carries the same
 * PING, and has a longer limit than this one.
 */
static void end_timer(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer,
					     silence.end);
	struct silence *s = &peer->silence;
	uint64_t now = clock_now(), most = s->answer_ms * CLOCK_NS_PER_MS;

	if (!s->asked)
		return;
	rpc_timer_set(peer->link.ctx, timer, clock_after_ms(SILENCE_ANSWER_MS));
	if (!call_has_slot(&s->ping))
		s->sent = 0;
	else if (!s->sent)
		s->sent = now;
	if (peer->state != PEER_READY || !s->since || !s->sent ||
	    now - unanswered_since(s) < most || !is_quiet(peer, s->answer_ms))
		return;
	s->unanswered = true;
	if (s->answer_ms < SILENCE_ANSWER_MAX_MS)
		s->answer_ms *= 2;
	link_fail(&peer->link, -ETIMEDOUT);
}

/*
 * The next answer may be the last unsealed message (link.hears).  Until then, no PING is sent.
 */
static void silence_timer(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer,
					     silence.timer);
	struct silence *s = &peer->silence;

	if (!s->since)
		return;
	if (clock_now() < soon(s))
		watch(peer);
	else if (peer->state == PEER_READY && peer->link.hears)
		rpc_timer_set(peer->link.ctx, &s->timer,
			      clock_after_ms(SOON_MAX_MS));
	else if (peer->state == PEER_READY)
		ping(peer);
}

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server)
{
	peer->silence.patience_ms = patience_ms;
	peer->silence.server = server;
	peer->silence.answer_ms = SILENCE_ANSWER_MS;
	peer->silence.timer.fire = silence_timer;
	peer->silence.end.fire = end_timer;
}

void silence_end(struct rpc_peer *peer)
{
	rpc_timer_clear(peer->link.ctx, &peer->silence.timer);
	rpc_timer_clear(peer->link.ctx, &peer->silence.end);
}

/* ---- calls ---- */

/* There is no connection, or a PING is not answered.  Otherwise a call may only be slow. */
static bool is_silent(const struct rpc_peer *peer)
{
	const struct silence *s = &peer->silence;

	return s->since && (s->asked || peer->state != PEER_READY);
}

static void tell(struct rpc_peer *peer, uint64_t now)
{
	struct silence *s = &peer->silence;

	if (s->told)
		return;
	s->told = true;
	log_error(
		peer->link.ctx->log,
		"%s: has not said anything for %llu s; calls fail at once until "
		"it does%s%s",
		peer->name,
		(unsigned long long)((now - s->since) /
				     (1000 * CLOCK_NS_PER_MS)),
		peer->fix ? "; " : "", peer->fix ? peer->fix : "");
}

static bool in_time(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;
	uint64_t now = clock_now();
	uint64_t end = s->since +
		       (s->patience_ms + SILENCE_GRACE_MS) * CLOCK_NS_PER_MS;

	if (now >= end) {
		tell(peer, now);
		return false;
	}
	if (call->deadline > end)
		call->deadline = end;
	return true;
}

bool silence_call(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;

	if ((!s->patience_ms && !s->server) || call->patient)
		return true;
	if (s->patience_ms && is_silent(peer) && !in_time(peer, call))
		return false;
	call->p.owed = true;
	s->owing++;
	if (!s->since)
		begin(peer);
	return true;
}

void silence_done(struct rpc_peer *peer, struct rpc_call *call)
{
	peer->silence.owing -= call->p.owed;
	call->p.owed = false;
}

/* ---- messages from the server ---- */

void silence_forget(struct rpc_peer *peer)
{
	peer->silence.since = 0;
	peer->silence.told = false;
}

void silence_heard(struct rpc_peer *peer, struct rpc_call *call)
{
	struct silence *s = &peer->silence;

	if (call)
		silence_done(peer, call);
	if (!s->since)
		return;
	if (s->told)
		log_info(peer->link.ctx->log, "%s: answers again", peer->name);
	silence_forget(peer);
	if (s->owing)
		begin(peer);
}

/* From now on, the server owes an answer to the calls that it was answering slowly. */
void silence_lost(struct rpc_peer *peer)
{
	if (!peer->silence.since && peer->silence.owing)
		begin(peer);
}

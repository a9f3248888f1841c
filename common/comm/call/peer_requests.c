/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_requests.c - requests of the peer itself: PING, which finds out whether a silent server
 * answers (silence_int.h), and FAST, which asks for its buffers (payload_int.h).
 */
#include <errno.h>

#include "common/comm/call/call_int.h"
#include "common/transport/transport.h"

/* Deadline of the PING; then a new one is made. */
#define PING_MS 3600000u
#define FAST_MS 30000u

/* ---- PING ---- */

/* The timer finds out what there is to do. */
static void plan_scout(struct rpc_peer *peer, unsigned int ms)
{
	struct rpc_timer *timer = &peer->scout.timer;

	if (!timer->fire || !peer_leaders_have_choice(peer) ||
	    peer->state == PEER_CLOSED)
		return;
	if (ms || peer->scout.peer)
		rpc_timer_set(peer->link.ctx, timer, clock_after_ms(ms));
	else
		rpc_timer_clear(peer->link.ctx, timer);
}

static void ping_done(struct rpc_call *call)
{
	struct rpc_peer *peer = call->arg;
	struct silence *s = &peer->silence;

	silence_ping_answered(peer);
	rpc_timer_clear(peer->link.ctx, &s->answer_timer);
	plan_scout(peer, 0);
	if (s->since && peer->state != PEER_CLOSED)
		silence_plan_ping(peer);
}

static void ping_start(struct rpc_peer *peer)
{
	struct silence *s = &peer->silence;
	struct wire_out out;

	wire_begin(&out, s->msg, sizeof(s->msg));
	wire_end(&out, WIRE_PING, 0, 0);
	silence_ping_began(peer);
	s->ping = (struct rpc_call){ .msg = s->msg,
				     .msg_len = out.len,
				     .deadline = clock_after_ms(PING_MS),
				     .patient = true,
				     .urgent = true,
				     .quiet = true,
				     .done = ping_done,
				     .arg = peer };
	call_start(peer, &s->ping);
	s->ping_sent = call_has_slot(&s->ping) ? clock_now() : 0;
	if (s->server)
		rpc_timer_set(peer->link.ctx, &s->answer_timer,
			      clock_after_ms(SILENCE_ANSWER_MS));
	plan_scout(peer, s->scout_ms);
}

/*
 * While the next answer may be the last unsealed message (link.hasher), no PING may be sent.
 */
static void ping_due(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer,
					     silence.ping_timer);
	const struct silence *s = &peer->silence;

	if (!s->since)
		return;
	if (clock_now() < silence_ping_time(s))
		silence_plan_ping(peer);
	else if (peer->state == PEER_READY && peer->link.hasher)
		rpc_timer_set(peer->link.ctx, timer,
			      clock_after_ms(SILENCE_PING_MAX_MS));
	else if (peer->state == PEER_READY)
		ping_start(peer);
}

/* All that was sent has arrived, and nothing was received. */
static bool is_quiet(const struct rpc_peer *peer, unsigned int ms)
{
	return peer->silence.server == WIRE_ROLE_MGR ||
	       tp_ep_quiet_ms(peer->link.ep) >= ms;
}

/*
 * A PING that got no slot was not sent, so its timeout says nothing about the connection.  If the
 * connection is replaced, the same PING is sent on the next one, with a longer limit.
 */
static void ping_unanswered(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer,
					     silence.answer_timer);
	struct silence *s = &peer->silence;
	uint64_t now = clock_now(), since;

	if (!s->pinging)
		return;
	if (!peer->scout.timer.armed)
		plan_scout(peer, s->scout_ms);
	rpc_timer_set(peer->link.ctx, timer, clock_after_ms(SILENCE_ANSWER_MS));
	if (!call_has_slot(&s->ping))
		s->ping_sent = 0;
	else if (!s->ping_sent)
		s->ping_sent = now;
	/* since then, the server owes an answer on this connection and has the PING */
	since = s->since > s->ping_sent ? s->since : s->ping_sent;
	if (peer->state != PEER_READY || !s->since || !s->ping_sent ||
	    now - since < s->answer_ms * CLOCK_NS_PER_MS ||
	    !is_quiet(peer, s->answer_ms))
		return;
	s->replaced = true;
	if (s->answer_ms < SILENCE_ANSWER_MAX_MS)
		s->answer_ms *= 2;
	link_fail(&peer->link, -ETIMEDOUT);
}

/* ---- FAST ---- */

static void fast_done(struct rpc_call *call)
{
	struct rpc_peer *peer = call->arg;
	const struct wire_fast_rep *rep = call->reply.body;
	struct fast_place place;

	if (call->status)
		return;
	place = (struct fast_place){ .addr = le64toh(rep->addr),
				     .rkey = le32toh(rep->rkey),
				     .size = le32toh(rep->size),
				     .count = le32toh(rep->count) };
	if (fast_peer_set(&peer->fast.theirs, &place))
		peer_protocol_error(peer, "Fast RDMA buffers that cannot be");
}

static void fast_start(struct ctx_task *task)
{
	struct rpc_peer *peer = container_of(task, struct rpc_peer, fast.ask);
	struct rpc_call *call = &peer->fast.call;
	uint64_t buf[sizeof(struct wire_hdr) / 8];
	struct wire_out out;

	if (call->p.peer || peer->state != PEER_READY)
		return;
	wire_begin(&out, buf, sizeof(buf));
	wire_end(&out, WIRE_FAST, 0, 0);
	*call = (struct rpc_call){ .msg = buf,
				   .msg_len = out.len,
				   .deadline = clock_after_ms(FAST_MS),
				   .quiet = true,
				   .done = fast_done,
				   .arg = peer };
	call_start(peer, call);
}

void peer_requests_init(struct rpc_peer *peer)
{
	peer->silence.ping_timer.fire = ping_due;
	peer->silence.answer_timer.fire = ping_unanswered;
	peer->fast.ask.run = fast_start;
}

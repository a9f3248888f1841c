/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * silence_int.h - a server that does not answer.  Calls that start while others already wait for
 * it wait no longer than those.  Otherwise each call would have its own deadline.  A caller that
 * issues one call at a time (for example, a kernel that locks a directory) would then wait for
 * all the deadlines in sequence.
 *
 *	call       PING                  patience      and SILENCE_GRACE_MS
 *	 |----------|------------------------|------------------------|
 *	            calls that start now end here or earlier          ^ later calls
 *	            without an answer                              fail at once
 *
 * A manager that is one of several is replaced sooner, by another one that leads: peer_scout.c asks
 * the others, without giving up the connection.  So a slow leader keeps its clients.
 *
 *	call       PING      scout_ms  the others are asked, until one of them leads
 *	 |----------|-----------|-----------|------|------ ...
 *
 * Any message from the server ends this state.  A slow call is not silence: the server answers
 * the PING meanwhile.
 */
#ifndef SILENCE_INT_H
#define SILENCE_INT_H

#include "common/comm/call/rpc_call.h"

#define SILENCE_GRACE_MS 1000u /* for calls that started last */
/*
 * If a server does not answer the PING within this time, the connection is replaced.  The server
 * may be healthy while the connection lost its position in the byte stream.  Answers of an iod
 * may be queued after data.  So its connection ends only if nothing moved on it for as long.  The
 * limit doubles with each connection that was ended, until a PING is answered on the connection
 * on which it was first sent.  A stalled server gains nothing from new connections of all
 * clients.
 */
#define SILENCE_ANSWER_MS 2000u
#define SILENCE_ANSWER_MAX_MS 16000u /* below the default of dead_peer */

/*
 * The others are asked after this time at least, and after four times the last PING took.  That
 * longer limit ends with the first answer that is quick.
 */
#define SILENCE_SCOUT_MS 200u
#define SILENCE_SCOUT_PINGS 4u
#define SILENCE_QUICK_MS (SILENCE_SCOUT_MS / SILENCE_SCOUT_PINGS)

/* A PING is sent after an eighth of the patience without an answer. */
#define SILENCE_PING_PART 8u
#define SILENCE_PING_MAX_MS 500u

struct silence {
	unsigned int patience_ms; /* 0: calls do not fail early */
	unsigned int answers_due; /* calls that the server should answer soon */
	/* since then it owes an answer and sent nothing; 0: no */
	uint64_t since;
	bool logged; /* it was logged that calls fail immediately */
	enum wire_role server; /* 0: without an answer, the connection stays */
	struct rpc_timer ping_timer; /* before the PING */
	/* the PING: peer_requests.c */
	bool pinging; /* it is in progress */
	unsigned int answer_ms; /* its limit */
	unsigned int scout_ms; /* ... until other managers are asked */
	uint64_t ping_began;
	uint32_t ping_epoch; /* the connection on which it began */
	uint64_t ping_sent; /* it has had a slot since then; 0: it has none */
	bool replaced; /* a connection was ended because of this PING */
	struct rpc_timer answer_timer;
	struct rpc_call ping;
	uint64_t msg[sizeof(struct wire_hdr) / 8];
};

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server);
void silence_end(struct rpc_peer *peer);
/* When a PING is due, while the server owes an answer. */
uint64_t silence_ping_time(const struct silence *s);
/* Sets the timer for that, unless one is set or in progress. */
void silence_plan_ping(struct rpc_peer *peer);
/* A call starts; its deadline may become earlier.  Returns false if it has to fail. */
bool silence_limit_call(struct rpc_peer *peer, struct rpc_call *call);
/* A call that was started has ended, with any result. */
void silence_done(struct rpc_peer *peer, struct rpc_call *call);
/* The server sent something; call: the call that it answers, or NULL. */
void silence_over(struct rpc_peer *peer, struct rpc_call *call);
/* A PING begins; it was answered. */
void silence_ping_began(struct rpc_peer *peer);
void silence_ping_answered(struct rpc_peer *peer);
/* The connection is lost. */
void silence_connection_lost(struct rpc_peer *peer);
/* Nobody tries to connect any more. */
void silence_reset(struct rpc_peer *peer);

#endif

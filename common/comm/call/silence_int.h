/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * silence_int.h - limits how long calls wait for a server that does not answer.  If calls already
 * wait for the server, a later call ends at the same time as they do.  Without this, a caller that
 * issues one call after the other (a kernel that locks a directory) would wait for the full
 * deadline of each.
 *
 *	call       PING                  patience      and SILENCE_GRACE_MS
 *	 |----------|------------------------|------------------------|
 *	            calls that start now end here or earlier          ^ later calls
 *	            without an answer                              fail at once
 *
 * If the silent server is one of several managers, peer_scout.c soon asks the others which of them
 * leads.  The peer changes to a new leader, but keeps its connection until there is one.  So a
 * slow leader keeps its clients.
 *
 *	call       PING      scout_ms  the others are asked, until one of them leads
 *	 |----------|-----------|-----------|------|------ ...
 *
 * Any message from the server ends this state.  A server that answers PING is not silent, even
 * if a call takes long.
 */
#ifndef SILENCE_INT_H
#define SILENCE_INT_H

#include "common/comm/call/rpc_call.h"

#define SILENCE_GRACE_MS 1000u /* for calls that started last */
/*
 * If a server does not answer the PING within this time, the peer reconnects, because perhaps only
 * the connection is broken.  With an iod, it does so only if the connection moved no data either,
 * because a reply may wait in a queue until data was sent.  After each such reconnect the limit doubles, so that
 * the clients of a stalled server do not reconnect all the time.  A PING that is answered on the
 * connection on which it was first sent resets the limit.
 */
#define SILENCE_ANSWER_MS 2000u
#define SILENCE_ANSWER_MAX_MS 16000u /* below the default of dead_peer */

/*
 * The peer asks the other managers after SILENCE_SCOUT_MS, or after SILENCE_SCOUT_PINGS times the
 * duration of the last PING if that is longer.  Any answer within SILENCE_QUICK_MS resets the
 * limit.
 */
#define SILENCE_SCOUT_MS 200u
#define SILENCE_SCOUT_PINGS 4u
#define SILENCE_QUICK_MS (SILENCE_SCOUT_MS / SILENCE_SCOUT_PINGS)

/* A PING is sent after an eighth of the patience without an answer. */
#define SILENCE_PING_PART 8u
#define SILENCE_PING_MAX_MS 500u

struct silence {
	unsigned int patience_ms; /* 0 if calls do not fail early */
	unsigned int answers_due; /* calls that the server should answer soon */
	/* the time since which the server owes an answer and sent nothing; 0 if it owes none */
	uint64_t since;
	bool logged; /* it was logged that calls fail immediately */
	/* role of the server; if 0, a missing answer does not end the connection */
	enum wire_role server;
	struct rpc_timer ping_timer; /* time until the next PING */
	/* the PING: peer_requests.c */
	bool pinging; /* the PING is in progress */
	unsigned int answer_ms; /* time limit of the PING */
	unsigned int scout_ms; /* time until other managers are asked */
	uint64_t ping_began;
	/* number of the connection on which the PING began */
	uint32_t ping_epoch;
	/* time since which the PING has a slot; 0 if it has none */
	uint64_t ping_sent;
	bool replaced; /* a connection was ended because of this PING */
	struct rpc_timer answer_timer;
	struct rpc_call ping;
	uint64_t msg[sizeof(struct wire_hdr) / 8];
};

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server);
void silence_end(struct rpc_peer *peer);
/* Returns the time at which a PING is due while calls wait for the server. */
uint64_t silence_ping_time(const struct silence *s);
/* Sets the timer for the next PING, unless it is set or a PING is in progress. */
void silence_plan_ping(struct rpc_peer *peer);
/* Called when a call starts: may make its deadline earlier.  Returns false if it must fail now. */
bool silence_limit_call(struct rpc_peer *peer, struct rpc_call *call);
/* Called when a call that was started has ended, with any result. */
void silence_done(struct rpc_peer *peer, struct rpc_call *call);
/* Called when the server sent a message; call is the one that it answers, or NULL. */
void silence_over(struct rpc_peer *peer, struct rpc_call *call);
/* Called when a PING begins, and when it was answered. */
void silence_ping_began(struct rpc_peer *peer);
void silence_ping_answered(struct rpc_peer *peer);
/* Called when the connection is lost. */
void silence_connection_lost(struct rpc_peer *peer);
/* Called when the peer no longer tries to connect. */
void silence_reset(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * silence_int.h - a server that does not answer.  Calls that start while others already wait for
 * it wait no longer than those.  Otherwise each call would have its own deadline.  A caller that
 * issues one call at a time (for example, a kernel that locks a directory) would then wait for
 * all the deadlines in sequence.
 *
 *	call       PING                  patience      and SILENCE_GRACE_MS
 *	 |-- SOON --|------------------------|------------------------|
 *	            calls that start now end here or earlier          ^ later calls
 *	            without an answer                              fail at once
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

struct silence {
	unsigned int patience_ms; /* 0: calls do not fail early */
	unsigned int owing; /* calls that the server should answer soon */
	/* since then it owes an answer and sent nothing; 0: no */
	uint64_t since;
	bool told; /* it was logged that calls fail immediately */
	bool asked; /* the PING is in progress */
	enum wire_role server; /* 0: without an answer, the connection stays */
	unsigned int answer_ms;
	uint64_t sent; /* the PING has had a slot since then; 0: it has none */
	bool unanswered; /* a connection was ended because of this PING */
	struct rpc_timer timer; /* before the PING */
	struct rpc_timer end; /* after the PING */
	struct rpc_call ping;
	uint64_t msg[sizeof(struct wire_hdr) / 8];
};

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server);
void silence_end(struct rpc_peer *peer);
/* A call starts; its deadline may become earlier.  Returns false if it has to fail. */
bool silence_call(struct rpc_peer *peer, struct rpc_call *call);
/* A call that was started has ended, with any result. */
void silence_done(struct rpc_peer *peer, struct rpc_call *call);
/* The server sent something; call: the call that it answers, or NULL. */
void silence_heard(struct rpc_peer *peer, struct rpc_call *call);
/*
 * silence_lost(): the connection is lost.  silence_forget(): nobody tries to connect any more.
 */
void silence_lost(struct rpc_peer *peer);
void silence_forget(struct rpc_peer *peer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * silence_int.h - a server that says nothing: those who come while others wait for
 * it wait no longer than these.  Each would have its own deadline otherwise, and
 * whoever lets one call go on at a time (a kernel that locks a directory, say) would
 * wait for as many deadlines as there are calls.
 *
 *	call       PING                  patience      and SILENCE_GRACE_MS
 *	 |-- SOON --|------------------------|------------------------|
 *	            calls that come now end here or before            ^ from here on
 *	            without an answer                             they fail at once
 *
 * Anything that it says ends that.  A call that takes long is no silence: the PING is
 * answered meanwhile.
 */
#ifndef SILENCE_INT_H
#define SILENCE_INT_H

#include "common/comm/call/rpc_call.h"

#define SILENCE_GRACE_MS 1000u /* for those who came last */
/*
 * A server that has not answered the PING by then loses the connection, and gets another: it
 * may be well, and the connection may have lost its place in the stream of bytes.  An iod's
 * answers may be queued behind data: its connection ends only if nothing has moved on it for
 * as long.  Each connection after one that was ended has twice the time of that, until a PING
 * is answered on the connection that it was sent on first: a server that stands still gains
 * nothing from new connections of all clients.
 */
#define SILENCE_ANSWER_MS 2000u
#define SILENCE_ANSWER_MAX_MS 16000u /* below the default of dead_peer */

struct silence {
	unsigned int patience_ms; /* 0: it is not looked for */
	unsigned int owing; /* calls to be answered soon */
	uint64_t since; /* it owes an answer, and said nothing; 0: it does not */
	bool told; /* that calls fail at once */
	bool asked; /* the PING is under way */
	enum wire_role
		server; /* its connection ends, if it does not answer in answer_ms */
	unsigned int answer_ms;
	uint64_t sent; /* the PING has had a slot from then on, or 0 */
	bool unanswered; /* a connection was ended for this PING */
	struct rpc_timer timer; /* before it */
	struct rpc_timer end; /* after it */
	struct rpc_call ping;
	uint64_t msg[sizeof(struct wire_hdr) / 8];
};

void silence_init(struct rpc_peer *peer, unsigned int patience_ms,
		  enum wire_role server);
void silence_end(struct rpc_peer *peer);
/* A call starts, its deadline is made the earlier one.  False: it is to fail. */
bool silence_call(struct rpc_peer *peer, struct rpc_call *call);
/* One that started has ended, however. */
void silence_done(struct rpc_peer *peer, struct rpc_call *call);
/* The server said something: the answer to the call, if that is one. */
void silence_heard(struct rpc_peer *peer, struct rpc_call *call);
/* It is not connected any more; or not tried any more. */
void silence_lost(struct rpc_peer *peer);
void silence_forget(struct rpc_peer *peer);

#endif

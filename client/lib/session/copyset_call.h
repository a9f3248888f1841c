/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_call.h - requests to the iod that serves an object.
 *
 * All requests for objects of a file go this way. For ring 0 it is rpc_call_start() at the iod that
 * the layout gives. For other rings the request names the copyset and its version. If the iod
 * refuses the version (WIRE_ECOPYSET), it has executed nothing, or some parts of a WRITE, FALLOCATE
 * or COPY. Then the client asks the manager (copysets.h), and sends the whole request again, until
 * the deadline of the call:
 *
 *	iod 3 <-- WRITE, copyset 1030 version 4 --|
 *	      |-- WIRE_ECOPYSET ----------------->|
 *	manager <-------------------- COPYSETS ---|
 *	        |-- 1030: version 5, iod 1 ------>|
 *	iod 1 <-- WRITE, copyset 1030 version 5 --|
 *
 * Only the thread that drives the session may call these functions.
 */
#ifndef COPYSET_CALL_H
#define COPYSET_CALL_H

#include "client/lib/session/client_session.h"

struct copyset_call {
	/*
	 * The caller sets the same fields as for rpc_call_start(), except copyset. There is no
	 * inline data. In done(), unsure is also set if the call failed after an iod may have
	 * executed a part.
	 */
	struct rpc_call rpc;

	/* private; only for other rings than 0 */
	struct session *s;
	void (*done)(struct rpc_call *rpc);
	void *msg; /* a copy of the message */
	bool begun; /* an iod may have executed a part */
	struct copysets_wait wait;
};

int copyset_call_start_by_row(struct copyset_call *call, struct session *s,
			      const struct dist *dist, uint32_t k);
/*
 * Starts call->rpc at the iod that serves the objects of server k of the layout, which outlives the
 * call. Returns 0, and done() is called later, but not in this function. -ENOMEM: done() is not
 * called.
 */
static inline int copyset_call_start(struct copyset_call *call,
				     struct session *s, const struct dist *dist,
				     uint32_t k)
{
	if (dist->ring)
		return copyset_call_start_by_row(call, s, dist, k);
	rpc_call_start(s->iod[session_iod(s, dist, k)], &call->rpc);
	return 0;
}

/*
 * As rpc_call_cancel_unneeded(). If the call was never started, call->rpc is all zero, or at least
 * rpc.p.peer is NULL.
 */
void copyset_call_cancel_unneeded(struct copyset_call *call, struct session *s,
				  const struct dist *dist, int status);

#endif

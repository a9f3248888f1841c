/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply.h - replies that survive a restart of the manager.  A reply is stored in the transaction of
 * the change that it reports.  If the client repeats the request, the manager sends the stored
 * reply.
 */
#ifndef REPLY_H
#define REPLY_H

#include "mgr/state/mgr_state.h"

/*
 * Stores the reply that was built for rpc.  Call it in the transaction of the request.
 * opened: if not 0, the reply has a capability for an open with these WIRE_O_*.  The
 * capability is not stored, because the reply gets a new one each time it is sent.
 */
int reply_record(struct mgr *mgr, const struct rpc_req *rpc, uint32_t opened);
/*
 * Call it, instead of reply_record(), in the transaction that records the intent *in: stores
 * that the reply to rpc will be the result of this truncation.
 */
int reply_record_job(struct mgr *mgr, const struct rpc_req *rpc,
		     const struct intent *in);
/* Returns the handle of the file of the intent that reply_record_job() stored in rec. */
uint64_t reply_job_handle(const struct reply_rec *rec);
/*
 * Call it in the transaction that ends the truncation *in with this status: stores the reply,
 * if the session still waits for it.
 */
int reply_record_job_end(struct mgr *mgr, const struct intent *in, int status);

/*
 * Reads the stored reply for the repeated request rpc into *rec. Returns 0, or -ENOENT if there is
 * none.
 */
int reply_find(struct mgr *mgr, const struct rpc_req *rpc,
	       struct reply_rec *rec);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply.h - replies that survive a restart of the manager.  A reply is stored in the
 * transaction of the change that it reports, and found when the request is repeated.
 */
#ifndef REPLY_H
#define REPLY_H

#include "mgr/state/mgr_state.h"

/*
 * Stores the reply that was built for the request.  Call it in the transaction of the
 * request.  If opened is not 0, the reply has a capability.  That is not stored, because
 * each time the reply is sent, it gets a new one.
 */
int reply_record(struct mgr *mgr, const struct rpc_req *rpc, uint32_t opened);
/* In the same transaction: stores that the request has become the intent. */
int reply_record_job(struct mgr *mgr, const struct rpc_req *rpc,
		     const struct intent *in);
/* The file of that intent. */
uint64_t reply_job_handle(const struct reply_rec *rec);
/*
 * In the transaction that ends a truncation: stores its reply, if the session still
 * waits for it.
 */
int reply_record_job_end(struct mgr *mgr, const struct intent *in, int status);

/* The stored reply of a repeated request.  -ENOENT: there is none. */
int reply_find(struct mgr *mgr, const struct rpc_req *rpc,
	       struct reply_rec *rec);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reply.h - replies that outlive the mgr: stored in the transaction of what
 * they report, found again when the request comes a second time.
 */
#ifndef REPLY_H
#define REPLY_H

#include "mgr/state/mgr_state.h"

/*
 * In the transaction of the request: its reply as it stands.  opened is not 0: but for
 * its capability, which is made anew whenever the reply is.
 */
int reply_record(struct mgr *mgr, const struct rpc_req *rpc, uint32_t opened);
/* ... or, that it has become the intent. */
int reply_record_job(struct mgr *mgr, const struct rpc_req *rpc,
		     const struct intent *in);
/* The file of that intent. */
uint64_t reply_job_handle(const struct reply_rec *rec);
/* In the transaction that ends a truncation: its reply, if the session still
 * waits for just that. */
int reply_record_job_end(struct mgr *mgr, const struct intent *in, int status);

/* What became of a request that is sent again: -ENOENT: nothing. */
int reply_find(struct mgr *mgr, const struct rpc_req *rpc,
	       struct reply_rec *rec);

#endif

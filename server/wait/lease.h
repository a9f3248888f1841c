/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lease.h - the lease: until when the iod may execute changes of clients, as the manager says.
 * A manager that cannot reach the iod waits for this time to pass before it assumes that the
 * iod changes nothing any more.
 */
#ifndef LEASE_H
#define LEASE_H

#include "server/state/worker.h"

/*
 * Call it before a change of a client begins.  True: req's expiry is now at most the end of the
 * lease.  False: there is no lease, so the request waits until there is one.  At its
 * deadline it is answered -ETIMEDOUT, or -EINPROGRESS earlier if it may not wait that long;
 * -ENOMEM if it cannot wait.
 */
bool lease_check(struct worker *w, struct rpc_req *req);
/* Answers the waiting requests of the session -ESTALE. */
void lease_stop_session(struct worker *w, struct iod_session *ses);
/*
 * The manager was heard: extends the lease to until, clock_boot(), and runs the waiting
 * requests.  Called from any worker's thread.
 */
void lease_renew(struct iod *iod, uint64_t until);
/* The iod had its first lease: the manager has claimed the store and sent the fences before, so
 * the iod serves. */
bool lease_was_given(const struct iod *iod);

/* After the first lease, once: logs the settings and tells the daemon.  Before it, nothing
 * happens. */
void lease_announce_ready(struct iod *iod);

void lease_open(struct worker *w);
/* Frees the waiting requests without an answer. */
void lease_close(struct worker *w);

#endif

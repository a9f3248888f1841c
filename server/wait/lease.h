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
 * Call it on w's thread before a change of a client begins.  True: execute req; its expiry is now
 * at most the end of the lease.  False: there is no lease, so req waits until there is one, and
 * the caller does nothing more with it.  A request that waits is answered with -ETIMEDOUT at its
 * deadline, or with -EINPROGRESS earlier if it may not wait so long; with -ENOMEM if it cannot
 * wait.
 */
bool lease_check(struct worker *w, struct rpc_req *req);
/* Answers the waiting requests of the session with -ESTALE. */
void lease_stop_session(struct worker *w, struct iod_session *ses);
/*
 * The manager has sent a lease: extends the lease to `until`, clock_boot(), and executes the
 * waiting requests of all workers.  Called on any worker's thread.
 */
void lease_renew(struct iod *iod, uint64_t until);
/*
 * Whether the iod has got its first lease.  Before the manager sends it, the manager has claimed
 * the store and sent all fences.  So from then on the iod serves.
 */
bool lease_was_given(const struct iod *iod);

/* At its first call after the first lease, logs the settings and tells the daemon that the iod
 * serves.  At all other calls nothing happens. */
void lease_announce_ready(struct iod *iod);

void lease_open(struct worker *w);
/* Frees the waiting requests without an answer. */
void lease_close(struct worker *w);

#endif

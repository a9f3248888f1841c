/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lease.h - until when the iod may carry out what clients change, as the manager
 * says.  The manager that cannot reach it takes it for harmless only after that.
 */
#ifndef LEASE_H
#define LEASE_H

#include "server/state/worker.h"

/*
 * A change of a client begins: its expiry is not behind the lease's then.  Without a
 * lease: false, and it is parked until there is one, or answered -ETIMEDOUT at
 * its deadline.
 */
bool lease_take(struct worker *w, struct rpc_req *req);
/* What of it is parked is answered -ESTALE. */
void lease_drop(struct worker *w, struct iod_session *ses);
/*
 * The manager was heard: it goes on until then (clock_boot()), for what is parked as
 * well.  From any worker's thread.
 */
void lease_renew(struct iod *iod, uint64_t until);
/* It had its first one: it has what it owed, and serves. */
bool lease_had(const struct iod *iod);

void lease_open(struct worker *w);
/* Forgets what is parked. */
void lease_close(struct worker *w);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_peers.h - the connections of a worker to the other iods of the file system.  All that an iod
 * asks another one goes over them: each worker has one session at each iod that it has called.
 *
 * Only the worker's thread calls these functions.
 */
#ifndef IOD_PEERS_H
#define IOD_PEERS_H

#include "server/state/worker.h"

/*
 * Sets *peer to the connection of w to iod `index`, which belongs to w until iod_peers_close().
 * Makes it at the first call; it connects at its first rpc_call.  If that fails, the calls end with
 * the error (rpc_peer_attr.impatient).  -EOPNOTSUPP: the configuration has no such iod.  -ENOMEM;
 * an error of random_id().
 */
int iod_peer_get(struct worker *w, uint32_t index, struct rpc_peer **peer);
/* Ends the calls in flight with -ECANCELED, and closes the connections. */
void iod_peers_close(struct worker *w);

#endif

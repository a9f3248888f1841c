/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h - STATFS, PING and STATS: what servers say of themselves. */
#ifndef STORE_H
#define STORE_H

#include <sys/statfs.h>

#include "api.h"
#include "mgr.h"

/* arg: struct statfs *.  A target_op: the space of all iods together, the
 * inodes of the mgr. */
int store_statfs(struct session *s, const struct target *t, void *arg);
/* One server. */
int store_statfs_one(struct session *s, struct rpc_peer *peer,
		     struct statfs *st);
int store_ping(struct session *s, struct rpc_peer *peer,
	       struct pvfs_ping *ping);
/* Of the first operation from number op on that it has answered; stats->op is 0 where
 * there is none. */
int store_stats(struct session *s, struct rpc_peer *peer, uint32_t op,
		struct pvfs_op_stats *stats);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h - STATFS and PING: what servers say of themselves. */
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

#endif

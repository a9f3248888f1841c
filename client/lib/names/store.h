/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h - STATFS, PING and METRICS: what servers say of themselves. */
#ifndef STORE_H
#define STORE_H

#include <sys/statfs.h>

#include "client/lib/api.h"
#include "client/lib/names/mgr.h"

/* arg: struct statfs *.  A target_op: the space of all iods together, the
 * inodes of the mgr. */
int store_statfs(struct session *s, const struct target *t, void *arg);
/* One server. */
int store_statfs_one(struct session *s, struct rpc_peer *peer,
		     struct statfs *st);
int store_ping(struct session *s, struct rpc_peer *peer,
	       struct pvfs_ping *ping);
/* Whether an iod lends objects, and for writing, too: asked about one that is none.  0: not, or
 * it does not say. */
#define STORE_LENDS 1u
#define STORE_LENDS_ALL 2u
unsigned int store_lends(struct session *s, struct rpc_peer *peer);
/* Whether it takes programs of other hosts for whom they say (auth = sys), as far as that
 * can be known. */
bool store_believes(struct session *s, struct rpc_peer *peer);
/* 0; -ENOSYS: a server of version 2, which closes the connection that an operation comes on
 * that it does not know; or as store_ping(). */
int store_counts(struct session *s, struct rpc_peer *peer);
/* The same of what came with a feature, WIRE_FT_*. */
int store_knows(struct session *s, struct rpc_peer *peer, uint32_t feature);
/* metrics.c: rows of these groups, WIRE_MG_*; with handles, of these files. */
struct store_metrics {
	unsigned int groups, n;
	const uint64_t *handle; /* n <= WIRE_METRIC_FILES */
};
/* How many; *list is the caller's to store_metrics_free().  -EPROTO: a server that goes on for ever; or
 * as store_counts(). */
int store_metrics(struct session *s, struct rpc_peer *peer,
		  const struct store_metrics *what, struct pvfs_metric **list);
void store_metrics_free(struct pvfs_metric *list);

/* Those with numbers above after: how many; 0: there are no more.  -ENOSYS; -EPERM */
#define STORE_SESSIONS 48
int store_sessions(struct session *s, struct rpc_peer *peer, uint64_t after,
		   struct pvfs_session list[STORE_SESSIONS]);
/* As pvfs_watch_evict(). */
int store_evict(struct session *s, struct rpc_peer *peer,
		const struct pvfs_evict *what, struct pvfs_evicted *done);

#endif

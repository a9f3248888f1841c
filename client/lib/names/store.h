/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h - STATFS, PING, STATS and LABELS: what servers say of themselves. */
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
/* Of the first operation from number op on that it has answered; stats->op is 0 where
 * there is none. */
int store_stats(struct session *s, struct rpc_peer *peer, uint32_t op,
		struct pvfs_op_stats *stats);

/* labels.c: a part of what users and jobs have asked for. */
#define STORE_LABELS 64 /* WIRE_LABELS_MAX */
struct store_labels {
	uint32_t next; /* where the next part begins; 0: there is none */
	int n;
	struct pvfs_label label[STORE_LABELS];
};
/* hot.c: as store_labels(), with -EPERM, to who is no administrator.  At most STORE_HOT;
 * returns how many. */
#define STORE_HOT 64 /* WIRE_HOT_MAX */
int store_hot(struct session *s, struct rpc_peer *peer,
	      struct pvfs_hot list[STORE_HOT]);
/* The names of n <= STORE_HOT, whose handles are said, where the server knows them. */
int store_names(struct session *s, struct rpc_peer *peer, struct pvfs_hot *list,
		int n);
/* inside.c: as store_hot().  *next: where the next part begins; 0: there is none. */
int store_gauges(struct session *s, struct rpc_peer *peer,
		 struct pvfs_gauge list[PVFS_GAUGES]);
#define STORE_TIMES 16 /* WIRE_TIMES_MAX */
int store_times(struct session *s, struct rpc_peer *peer, uint32_t from,
		struct pvfs_times list[STORE_TIMES], uint32_t *next);
int store_labels(struct session *s, struct rpc_peer *peer, uint32_t from,
		 struct store_labels *part);

/* Those with numbers above after: how many; 0: there are no more.  -ENOSYS; -EPERM */
#define STORE_SESSIONS 48
int store_sessions(struct session *s, struct rpc_peer *peer, uint64_t after,
		   struct pvfs_session list[STORE_SESSIONS]);
/* As pvfs_watch_evict(). */
int store_evict(struct session *s, struct rpc_peer *peer,
		const struct pvfs_evict *what, struct pvfs_evicted *done);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_query.h - STATFS, PING, METRICS, SESSIONS, EVICT and MANAGERS: requests for the state
 * of a server, and requests of administrators to a manager.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include <sys/statfs.h>

#include "client/lib/api.h"
#include "client/lib/names/mgr_requests.h"

/*
 * A target_op; arg: struct statfs *.  Sums up the space of all iods.  The number of inodes is
 * that of the manager.
 */
int server_statfs(struct session *s, const struct target *t, void *arg);
/* Fills *st with the space of the server peer alone. */
int server_statfs_one(struct session *s, struct rpc_peer *peer,
		      struct statfs *st);
int server_ping(struct session *s, struct rpc_peer *peer,
		struct pvfs_ping *ping);
/*
 * Asks an iod for a loan of an object that does not exist, to learn whether it lends.  Returns
 * SERVER_LENDS: for reading; SERVER_LENDS_ALL: also for writing; 0: no, or unknown.
 */
#define SERVER_LENDS 1u
#define SERVER_LENDS_ALL 2u
unsigned int server_lends(struct session *s, struct rpc_peer *peer);
/*
 * Returns true if the server believes programs on other hosts which user they run as (auth =
 * sys), as far as the client can know.
 */
bool server_trusts_names(struct session *s, struct rpc_peer *peer);
/*
 * Returns 0 if the server speaks protocol version 3; -ENOSYS: version 2, where a server closes
 * the connection if it gets an unknown operation; or an error of server_ping().
 */
int server_check_v3(struct session *s, struct rpc_peer *peer);
/* Returns 0 if the server has the feature WIRE_FT_*; -ENOSYS; or an error of server_ping(). */
int server_check_feature(struct session *s, struct rpc_peer *peer,
			 uint32_t feature);
/*
 * Which metrics to read: the rows of these groups, WIRE_MG_*.  With handles: of these files only.
 */
struct metrics_query {
	unsigned int groups, n;
	const uint64_t *handle; /* n <= WIRE_METRIC_FILES */
};
/*
 * Sets *list to the metrics, which the caller frees with server_metrics_free().  Returns the
 * number of rows; -EPROTO: the server never ends its list; or an error of server_check_v3().
 */
int server_metrics(struct session *s, struct rpc_peer *peer,
		   const struct metrics_query *what, struct pvfs_metric **list);
void server_metrics_free(struct pvfs_metric *list);

/*
 * Fills list with the sessions of a manager whose ids are above after.  Returns their number; 0:
 * no more; -ENOSYS: an iod, or an earlier release; -EPERM: the user may not list sessions.
 */
#define SERVER_SESSIONS 48
int server_sessions(struct session *s, struct rpc_peer *peer, uint64_t after,
		    struct pvfs_session list[SERVER_SESSIONS]);
/* See pvfs_watch_evict(). */
int server_evict(struct session *s, struct rpc_peer *peer,
		 const struct pvfs_evict *what, struct pvfs_evicted *done);
/* See pvfs_watch_managers(). */
int server_managers(struct session *s, struct rpc_peer *peer,
		    enum pvfs_managers_command command, uint64_t id,
		    struct pvfs_managers *state);

#endif

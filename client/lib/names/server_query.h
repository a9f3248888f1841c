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
 * A target_op; arg: struct statfs *. Adds up the space of all iods, and takes the inodes
 * of the manager.
 */
int server_statfs(struct session *s, const struct target *t, void *arg);
/* The same for one server. */
int server_statfs_one(struct session *s, struct rpc_peer *peer,
		      struct statfs *st);
int server_ping(struct session *s, struct rpc_peer *peer,
		struct pvfs_ping *ping);
/*
 * Returns whether an iod lends objects, and lends for writing.  Asks about an object that
 * does not exist.  0: no, or unknown.
 */
#define SERVER_LENDS 1u
#define SERVER_LENDS_ALL 2u
unsigned int server_lends(struct session *s, struct rpc_peer *peer);
/*
 * True: the server accepts the user names of programs on other hosts without proof (auth
 * = sys), as far as this can be known.
 */
bool server_trusts_names(struct session *s, struct rpc_peer *peer);
/*
 * Returns 0; -ENOSYS: a server of version 2, which closes the connection at an unknown
 * operation; or the errors of server_ping().
 */
int server_check_v3(struct session *s, struct rpc_peer *peer);
/* The same for operations that came with a feature, WIRE_FT_*. */
int server_check_feature(struct session *s, struct rpc_peer *peer,
			 uint32_t feature);
/* Which metrics to read: the rows of these groups, WIRE_MG_*.  With handles: of these files only. */
struct metrics_query {
	unsigned int groups, n;
	const uint64_t *handle; /* n <= WIRE_METRIC_FILES */
};
/*
 * Reads metrics.  Returns the number of rows; the caller frees *list with server_metrics_free().
 * -EPROTO: the server's list does not end; or the errors of server_check_v3().
 */
int server_metrics(struct session *s, struct rpc_peer *peer,
		   const struct metrics_query *what, struct pvfs_metric **list);
void server_metrics_free(struct pvfs_metric *list);

/*
 * Lists the sessions with numbers above after.  Returns how many; 0: no more; -ENOSYS;
 * -EPERM.
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

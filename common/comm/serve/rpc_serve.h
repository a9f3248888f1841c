/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_serve.h - a server and its sessions, part of rpc.h. */
#ifndef RPC_SERVE_H
#define RPC_SERVE_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trust/handshake.h"
#include "common/util/histogram.h"
#include "common/util/networks.h"
#include "common/comm/serve/rpc_bulk.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/comm/serve/rpc_req.h"
#include "common/wire/seal_mode.h"
#include "common/util/timing.h"

struct rpc_metrics;
struct rpc_server;
struct rpc_session;

struct rpc_service {
	/*
	 * HELLO of a connection from peer that names this role, for a new session or for one that
	 * it resumes.  Returns 0, or -errno: refused.  From any thread of the server.  May be
	 * NULL.
	 */
	int (*session_admit)(void *arg, enum wire_role role, const char *peer,
			     const struct rpc_cred *cred);
	/*
	 * First HELLO of a session since the server started.  May seed slots with
	 * rpc_session_seed().  Returns 0: new; 1: known from before the restart (so the client
	 * need not start afresh); -errno: refused.
	 */
	int (*session_open)(void *arg, struct rpc_session *session);
	/*
	 * The session has a new connection, maybe from another host: info->peer.  May be NULL.
	 */
	void (*session_back)(void *arg, struct rpc_session *session);
	/*
	 * The session ended.  clean: by BYE, unless BYE was unsure.  Not clean: it was
	 * disconnected for session_ttl_ms, fenced, or made room for another.  None of its
	 * requests is held any more.  Until this returns, the id is refused, so a session never
	 * exists twice.  To keep it from returning as a new session, call rpc_server_fence() from
	 * here.
	 */
	void (*session_close)(void *arg, struct rpc_session *session,
			      bool clean);
	/*
	 * The memory of the session is freed, after session_close() or, without that, in
	 * rpc_server_close().  Free what belongs to rpc_session_info.priv here.  May be NULL.
	 */
	void (*session_free)(void *arg, struct rpc_session *session);
	/*
	 * Whether the session sees the counts of all users and jobs, as administrators do.  NULL:
	 * root, and the user of the server process.
	 */
	bool (*sees_all)(void *arg, struct rpc_session *session);
	/*
	 * Whether a connection from peer may use the reserve of a full server.  A client: a tool
	 * of an administrator that has proved to be uid.  The manager, if nothing is proved (no
	 * prover): whether peer is where the manager runs; uid is unknown then.  From any thread
	 * of the server, before session_open().  NULL: tools as in sees_all, and no manager.
	 */
	bool (*may_reserve)(void *arg, enum wire_role role, const char *peer,
			    uint32_t uid);
	/*
	 * METRICS is about to be answered.  The service reports what clients did without requests
	 * with rpc_server_told().  NULL: nothing.
	 */
	void (*tell)(void *arg);
	/*
	 * The object that the log line about a slow request names; 0: none.  NULL: never any.
	 */
	uint64_t (*object)(const struct rpc_req *req);
	/*
	 * Puts the name of that object, for administrators: at most WIRE_METRIC_NAME bytes,
	 * padded with zeros.  NULL: there are no names.
	 */
	void (*name)(void *arg, uint64_t handle, uint8_t *name);
	/*
	 * METRICS: puts the rows of the service, always the same number in the same order.  From
	 * any thread of the server.  NULL: none.
	 */
	void (*metrics)(void *arg, struct rpc_metrics *metrics);
	/*
	 * A checked request (wire_parse()).  Answer it now or later with rpc_reply_send(), or
	 * give it up with rpc_req_abort(): exactly one of the two.
	 */
	void (*request)(void *arg, struct rpc_req *req);
};

struct rpc_server_attr {
	/*
	 * nctx contexts, one per thread, with the same rails.  The listeners use the first.
	 */
	struct rpc_ctx **ctx;
	unsigned int nctx;
	const struct log *log;
	struct addr addr;		/* pvfs://: on all rails */
	uint64_t fsid;
	/* new at every start: random, or as WIRE_FT_LIFE */
	uint64_t boot;
	/*
	 * Who may connect, in addition to programs on this host over local.  NULL, or empty: all.
	 * Outlives the server.
	 */
	const struct networks *allow;
	/*
	 * NULL: nothing is proved.  Else a client that says that it is a manager or an iod must
	 * prove it.  Outlives the server.
	 */
	const struct prover *prover;
	/* NULL: clients are who they say they are.  Needs prover.  Outlives the server. */
	const struct doorkeeper *keeper;
	/*
	 * With prover: the minimum for connections that can be sealed, of all that have to prove
	 * themselves.
	 */
	enum seal_mode seal;
	/* for prover: the role of this server, */
	enum wire_role role;
	uint32_t index;			/* and the number of an iod */
	/*
	 * WIRE_FT_* of the service; without _V3, and without _PROOF, which prover implies
	 */
	uint32_t features;
	unsigned int slots;		/* per session */
	/* bytes; a connection needs slots * request_max */
	size_t request_max;
	/* bytes; a session needs slots * reply_max */
	size_t reply_max;
	/*
	 * Room for data in a request.  Not set: up to request_max, or less if memory is pinned.
	 */
	struct sizes inline_max;
	/* Bytes of Fast RDMA buffers for all sessions; 0: none (fast.h). */
	size_t fast_bytes;
	/*
	 * Maximum bytes of bulk data outstanding, shared by the contexts.  A client waits if it
	 * already has as much outstanding as is free; a single client can have half.  0: no
	 * limit.
	 */
	uint64_t rdma_max;
	/*
	 * Clients may be asked to move data themselves.  Needs the same setting at the client,
	 * and rpc_bulk.lend.  They are asked if more is outstanding than carry_above.
	 */
	bool carry;
	/* bytes of bulk data, shared as rdma_max */
	uint64_t carry_above;
	/* time until lent memory is withdrawn; 0: half of stall_ms */
	unsigned int carry_ms;
	unsigned int max_sessions;
	/*
	 * Maximum from one host (IPv6: one /64), or over local from one user; 0: no limit.
	 */
	unsigned int host_sessions;
	/* time that a session is kept without a connection */
	unsigned int session_ttl_ms;
	/*
	 * A connection ends if it sends no HELLO, or moves no bulk data, for this long.  0:
	 * 10000.
	 */
	unsigned int stall_ms;
	/* A request that took this long is logged; 0: none is. */
	unsigned int slow_ms;
	const struct rpc_service *service;
	void *arg;
};
/*
 * Starts to listen.  Call it before the threads of the other contexts run.  Sessions are spread
 * over the contexts.  All callbacks of one session come from the thread of one context.
 */
int rpc_server_open(const struct rpc_server_attr *attr,
		    struct rpc_server **server);
/* All threads of the contexts have stopped.  Requests in flight are dropped. */
void rpc_server_close(struct rpc_server *server);
/* The address in use (with the port that was chosen). */
void rpc_server_addr(const struct rpc_server *server, struct addr *addr);
struct rpc_server_stats {
	uint64_t requests, sessions, protocol_errors, replays;
	uint64_t fast;			/* of requests: by Fast RDMA */
	/* replies by RDMA Write with immediate */
	uint64_t placed;
	/* reads that ended with their last RDMA Write, without a reply */
	uint64_t whole;
	uint64_t fast_refused;		/* connections that got no buffers */
	size_t fast_bytes;		/* bytes of buffers now */
	uint64_t rdma_waits;		/* bulks that had to wait */
	/* bulks outstanding when a connection ended */
	uint64_t rdma_cut;
	/* maximum of bytes outstanding, summed over the contexts */
	uint64_t rdma_most;
	uint64_t carried, carried_bytes; /* bulks that clients moved */
	uint64_t carry_declined;	/* ... that clients declined */
	/* ... that were withdrawn from clients */
	uint64_t carry_late;
	uint64_t conns;			/* connections now */
	/* memory of connections and sessions now, with kept replies */
	uint64_t client_bytes;
	/* receives that connections share, now */
	uint64_t shared, shared_bytes;
	uint64_t shared_copies;		/* messages beyond a client's share */
	/* requests and replies, over connections */
	uint64_t message_bytes;
	/*
	 * connections with an endpoint for bulk data now; bytes over those, with the replies
	 * after the data
	 */
	uint64_t aparts, apart_bytes;
	/* HELLOs with a missing or false proof */
	uint64_t impostors;
	uint64_t bare;			/* HELLOs that did not agree to seal */
	/* connects from networks that are not allowed */
	uint64_t outsiders;
	/* clients refused because of their identity */
	uint64_t unknown;
};
void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats);

/*
 * Adds a row: a current value; a count since the start; a distribution of times, which has no row
 * before the first event.  by and of: its label.  NULL: no label, which only the first two allow.
 * name and by consist of a-z and _.  A name ends in its unit.
 */
void rpc_metrics_now(struct rpc_metrics *metrics, const char *name,
		     const char *by, const char *of, uint64_t n, const char *help);
void rpc_metrics_total(struct rpc_metrics *metrics, const char *name,
		       const char *by, const char *of, uint64_t n, const char *help);
void rpc_metrics_times(struct rpc_metrics *metrics, const char *name,
		       const char *by, const char *of, const struct timing *timing,
		       const char *help);

/* A user and a job, as in METRICS. */
struct rpc_label {
	uint32_t uid;
	char job[WIRE_JOB_MAX];		/* padded with zeros */
};
struct rpc_told {
	uint64_t n, bytes, ns;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};
/*
 * A client of that label reports that it read told[0] and wrote told[1] more, without requests.
 * From any thread of the server; takes a lock.
 */
void rpc_server_told(struct rpc_server *server, const struct rpc_label *label,
		     const struct rpc_told told[2]);
/* The current label of the session; from its thread. */
void rpc_session_label(const struct rpc_session *session,
		       struct rpc_label *label);

struct rpc_session_info {
	uint64_t id;
	enum wire_role role;
	struct rpc_cred cred;
	/* WIRE_FT_* of rpc_server_attr that its client also named at the connect */
	uint32_t features;
	/* cred comes from a ticket, the kernel, or rpc_req_admit() */
	bool proved;
	/*
	 * Of the ticket of its connection, or of rpc_req_admit(): see struct admitted.  0: there
	 * was none.
	 */
	uint64_t until, term;
	/* "tcp 10.0.0.9:4123", "-" if disconnected */
	const char *peer;
	struct rpc_ctx *ctx;
	unsigned int ctx_index;
	/* belongs to the service, which may write it */
	void *priv;
};
struct rpc_session_info *rpc_session_info(struct rpc_session *session);
bool rpc_session_here(const struct rpc_session *session); /* Whether it is connected. */
/*
 * In session_open(): the last request of the slot and its reply, which is copied.  Returns 0 or
 * -EINVAL.
 */
int rpc_session_seed(struct rpc_session *session, unsigned int slot,
		     uint64_t seq, const void *reply, size_t len);
/*
 * Closes the connection of a session, if there is one, and refuses its return with -ESTALE.
 * Requests in flight are not answered; then session_close() follows.  From any thread of the
 * server.  The latest RPC_FENCE_MAX fences are kept, and as many of sessions that nobody proved
 * to own.  A session of the latter kind just ends, and is not refused, if a user has proved that
 * he owns its number.
 */
#define RPC_FENCE_MAX 65536u
void rpc_server_fence(struct rpc_server *server, uint64_t session);
/* The same, but a client that knows WIRE_FT_EVICT is refused with -EKEYREVOKED. */
void rpc_server_evict(struct rpc_server *server, uint64_t session);
/* Whether the session exists: its session_close() has not returned yet. */
bool rpc_server_knows(struct rpc_server *server, uint64_t session);
/*
 * Calls fn for each open session.  Only for a server with one context, on its thread.  Holds a
 * lock that rpc_server_fence() also takes.
 */
void rpc_server_each(struct rpc_server *server,
		     void (*fn)(void *arg, struct rpc_session *session),
		     void *arg);

#endif

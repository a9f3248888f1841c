/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_serve.h - a server and its sessions, part of rpc.h. */
#ifndef RPC_SERVE_H
#define RPC_SERVE_H

/* Tables, their comments in columns: laid out by hand. */
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
	 * A session says HELLO for the first time since the server started.
	 * May seed slots with rpc_session_seed().  0: it is new; 1: it is
	 * known from before the restart (so that the client is not told to
	 * start afresh); -errno to refuse.
	 */
	int (*session_open)(void *arg, struct rpc_session *session);
	/*
	 * It has another connection now, maybe from elsewhere: info->peer.
	 * May be NULL.
	 */
	void (*session_back)(void *arg, struct rpc_session *session);
	/*
	 * It said BYE (clean, unless it is unsure), or stayed away for session_ttl_ms, was fenced,
	 * or made room for another one (not clean); none of its requests is
	 * held any more.  Until this has returned, the id is refused: a
	 * session never has two lives at a time.  rpc_server_fence() from
	 * here keeps it from returning as a new session.
	 */
	void (*session_close)(void *arg, struct rpc_session *session,
			      bool clean);
	/*
	 * Its memory goes, after session_close() or, without that, in
	 * rpc_server_close(): for what hangs on rpc_session_info.priv.  May
	 * be NULL.
	 */
	void (*session_free)(void *arg, struct rpc_session *session);
	/*
	 * Whether the session is shown what all users and jobs have asked for, as
	 * administrators are; NULL: root, and the user that the server runs as.
	 */
	bool (*sees_all)(void *arg, struct rpc_session *session);
	/*
	 * Whether who comes from peer may use what a full server keeps in reserve: a tool of an
	 * administrator that has proved to be uid; or, where nothing is proved (no prover), who
	 * says that it is the manager, for it is where that is (uid is not known then).  Any thread of
	 * it, before session_open().  NULL: tools, as sees_all has it, and no manager.
	 */
	bool (*may_reserve)(void *arg, enum wire_role role, const char *peer,
			    uint32_t uid);
	/*
	 * METRICS is about to be answered: what the service knows of what clients do
	 * without requests, it tells by rpc_server_told().  NULL: nothing.
	 */
	void (*tell)(void *arg);
	/*
	 * What the line about a slow request says that it is about; 0: nothing.  NULL: never.
	 */
	uint64_t (*object)(const struct rpc_req *req);
	/*
	 * The name of that object, for administrators: at most WIRE_METRIC_NAME bytes, in
	 * zeros.  NULL: there are none.
	 */
	void (*name)(void *arg, uint64_t handle, uint8_t *name);
	/* METRICS: puts the rows of the service, always as many and in the same order.  Any thread of
	 * it.  NULL: nothing. */
	void (*metrics)(void *arg, struct rpc_metrics *metrics);
	/*
	 * A checked request (wire_parse()), answered now or later with
	 * rpc_reply_send(), or given up with rpc_req_abort(); exactly one.
	 */
	void (*request)(void *arg, struct rpc_req *req);
};

struct rpc_server_attr {
	struct rpc_ctx **ctx;		/* nctx contexts, one per thread, with
					 * the same rails; the listeners live
					 * on the first */
	unsigned int nctx;
	const struct log *log;
	struct addr addr;		/* pvfs://: on all rails */
	uint64_t fsid;
	uint64_t boot;			/* new at every start; random, or as WIRE_FT_LIFE */
	const struct networks *allow;	/* who may connect, beside programs on this
					 * host over local; NULL, or none: all;
					 * outlives the server */
	const struct prover *prover;	/* NULL: nothing is proved.  Else who says
					 * that it is a manager or an iod must prove
					 * it; outlives the server */
	const struct doorkeeper *keeper; /* NULL: clients are who they say; needs
					 * prover; outlives the server */
	enum seal_mode seal;		/* with prover: connections that can be sealed are,
					 * at least so, of all who have to prove
					 * themselves */
	enum wire_role role;		/* for prover: what this server is, */
	uint32_t index;			/* which iod */
	uint32_t features;		/* WIRE_FT_* that it has; not _V3, not _PROOF, which
					 * prover stands for */
	unsigned int slots;		/* per session */
	size_t request_max;		/* bytes; slots * request_max a connection */
	size_t reply_max;		/* bytes; slots * reply_max a session */
	struct sizes inline_max;	/* room for data in a request; not said: by
					 * request_max, less where memory is
					 * pinned */
	size_t fast_bytes;		/* of Fast RDMA buffers for all sessions;
					 * 0: none (fast.h) */
	uint64_t rdma_max;		/* bytes of bulk data outstanding, shared
					 * by the contexts; a client that has as
					 * much as is free waits: half of it for one
					 * that is alone; 0: no bound */
	bool carry;			/* where the client does so, too: it is asked to
					 * move data for which rpc_bulk.lend is set
					 * when more is under way than: */
	uint64_t carry_above;		/* bytes of bulk data, shared as rdma_max */
	unsigned int carry_ms;		/* until the memory that was lent is taken
					 * back; 0: half of stall_ms */
	unsigned int max_sessions;
	unsigned int host_sessions;	/* ... of one host (of IPv6: of a /64), or over local of
					 * one user; 0: all */
	unsigned int session_ttl_ms;	/* kept this long without a connection */
	unsigned int stall_ms;		/* a connection ends that has no HELLO or
					 * moves no bulk data for so long; 0: 10000 */
	unsigned int slow_ms;		/* a request that took so long leaves a line in the
					 * log; 0: none does */
	const struct rpc_service *service;
	void *arg;
};
/*
 * Starts to listen.  Call before the other contexts' threads run.  Sessions
 * are spread over the contexts; all callbacks of one session come from the
 * same context's thread.
 */
int rpc_server_open(const struct rpc_server_attr *attr,
		    struct rpc_server **server);
/* All threads of the contexts have stopped.  Requests in flight are dropped. */
void rpc_server_close(struct rpc_server *server);
/* The address in use (with the port that was chosen). */
void rpc_server_addr(const struct rpc_server *server, struct addr *addr);
struct rpc_server_stats {
	uint64_t requests, sessions, protocol_errors, replays;
	uint64_t fast;			/* of the requests: by Fast RDMA */
	uint64_t placed;		/* replies by RDMA Write with immediate */
	uint64_t whole;			/* reads that ended with their last RDMA
					 * Write, without a reply */
	uint64_t fast_refused;		/* connections that got no buffers */
	size_t fast_bytes;		/* of buffers, now */
	uint64_t rdma_waits;		/* bulks that had to wait */
	uint64_t rdma_cut;		/* bulks under way when a connection ended */
	uint64_t rdma_most;		/* bytes outstanding, the sum of each
					 * context's most */
	uint64_t carried, carried_bytes; /* bulks that clients moved */
	uint64_t carry_declined;	/* that clients did not want to */
	uint64_t carry_late;		/* that were taken back from clients */
	uint64_t conns;			/* connections, now */
	uint64_t client_bytes;		/* memory of connections and sessions, with
					 * the replies that are kept, now */
	uint64_t shared, shared_bytes;	/* receives that connections share, now */
	uint64_t shared_copies;		/* messages beyond a client's share */
	uint64_t message_bytes;		/* requests and replies, over connections */
	uint64_t aparts, apart_bytes;	/* connections with an endpoint for bulk data,
					 * now; what went over these, and the
					 * replies behind it */
	uint64_t impostors;		/* HELLOs whose proof was missing or false */
	uint64_t bare;			/* HELLOs that did not agree to seal */
	uint64_t outsiders;		/* connects from where nobody may */
	uint64_t unknown;		/* ... of clients */
};
void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats);

/*
 * A row more: what it is now; what was counted since the start; how long what took, which has no row
 * before it has happened.  by and of: its label, or NULL.  name and by are of a-z and _; a name
 * ends in its unit.
 */
void rpc_metrics_now(struct rpc_metrics *metrics, const char *name,
		     const char *by, const char *of, uint64_t n, const char *help);
void rpc_metrics_total(struct rpc_metrics *metrics, const char *name,
		       const char *by, const char *of, uint64_t n, const char *help);
void rpc_metrics_times(struct rpc_metrics *metrics, const char *name,
		       const char *by, const char *of, const struct timing *timing,
		       const char *help);

/* A user and a job, as METRICS has them. */
struct rpc_label {
	uint32_t uid;
	char job[WIRE_JOB_MAX];		/* then zeros */
};
struct rpc_told {
	uint64_t n, bytes, ns;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};
/*
 * So much more did a client of that label read, told[0], and write, told[1], without
 * requests, as it says itself.  Any thread of the server; takes a lock.
 */
void rpc_server_told(struct rpc_server *server, const struct rpc_label *label,
		     const struct rpc_told told[2]);
/* The session's own, as it is now; its thread. */
void rpc_session_label(const struct rpc_session *session,
		       struct rpc_label *label);

struct rpc_session_info {
	uint64_t id;
	enum wire_role role;
	struct rpc_cred cred;
	uint32_t features;		/* WIRE_FT_* of rpc_server_attr that its client
					 * named, too, at the connect */
	bool proved;			/* cred is what a ticket or the kernel says,
					 * or rpc_req_admit() */
	uint64_t until, term;		/* of the ticket that its connection came with,
					 * or of rpc_req_admit(): struct admitted; 0:
					 * of none */
	const char *peer;		/* "tcp 10.0.0.9:4123", "-" if away */
	struct rpc_ctx *ctx;
	unsigned int ctx_index;
	void *priv;			/* the service's, writable */
};
struct rpc_session_info *rpc_session_info(struct rpc_session *session);
bool rpc_session_here(const struct rpc_session *session); /* connected */
/* In session_open(): the slot's last request and its reply (copied). */
int rpc_session_seed(struct rpc_session *session, unsigned int slot,
		     uint64_t seq, const void *reply, size_t len);
/*
 * Breaks the connection of a session, if there is one, and refuses its return
 * with -ESTALE; requests in flight are answered by nobody, then
 * session_close().  Any thread of the server.  RPC_FENCE_MAX are remembered,
 * the latest; sessions of nobody apart, as many.  One of these whose number
 * somebody has proved to be his ends, and is not refused.
 */
#define RPC_FENCE_MAX 65536u
void rpc_server_fence(struct rpc_server *server, uint64_t session);
/* The same; who knows WIRE_FT_EVICT is refused with -EKEYREVOKED. */
void rpc_server_evict(struct rpc_server *server, uint64_t session);
/* It has not been told of its session_close() yet. */
bool rpc_server_knows(struct rpc_server *server, uint64_t session);
/*
 * Of a server with one context, on its thread: fn of each session that is open, with a
 * lock that rpc_server_fence() takes, too.
 */
void rpc_server_each(struct rpc_server *server,
		     void (*fn)(void *arg, struct rpc_session *session),
		     void *arg);

#endif

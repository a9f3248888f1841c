/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_serve.h - a server: its sessions, requests and bulk data.  Part of rpc.h. */
#ifndef RPC_SERVE_H
#define RPC_SERVE_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/buffer/rail.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/transport/transport.h"
#include "common/trust/handshake.h"
#include "common/util/histogram.h"
#include "common/util/networks.h"
#include "common/wire/security_mode.h"
#include "common/wire/wire.h"

struct rpc_metrics;
struct rpc_req;
struct rpc_server;
struct rpc_session;

/* ---- a server ---- */

/* Which of several managers leads, for -WIRE_ENOTLEADER. */
struct rpc_leader {
	uint32_t index;			/* WIRE_LEADER_NONE: unknown */
	/* its address; "", or longer than WIRE_LEADER_URI_MAX: clients are not told */
	char uri[WIRE_URI_MAX + 1];
};

struct rpc_service {
	/*
	 * HELLO of a connection from peer that names this role, for a new session or for one that
	 * it resumes.  Returns 0, or -errno: refused.  From any thread of the server.  May be
	 * NULL.
	 */
	int (*session_admit)(void *arg, enum wire_role role, const char *peer,
			     const struct rpc_cred *cred);
	/*
	 * session_admit() returned -WIRE_ENOTLEADER: says which manager leads.  From any thread
	 * of the server.  NULL: this server is not one of several.
	 */
	void (*find_leader)(void *arg, struct rpc_leader *leader);
	/*
	 * First HELLO of a session since the server started.  May seed slots with
	 * rpc_session_seed().  Returns 0: new; 1: known from before the restart (so the client
	 * need not start afresh); -errno: refused.
	 */
	int (*session_open)(void *arg, struct rpc_session *session);
	/*
	 * The session has a new connection, maybe from another host: info->peer.  May be NULL.
	 */
	void (*session_reconnected)(void *arg, struct rpc_session *session);
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
	 * METRICS is about to be answered.  The service reports reads and writes without requests
	 * with rpc_server_add_direct_io().  NULL: there are none.
	 */
	void (*report_direct_io)(void *arg);
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
	 * Networks that may connect, in addition to programs on this host over local.  NULL, or
	 * empty: all.  Outlives the server.
	 */
	const struct networks *allow;
	/*
	 * NULL: nothing is proved.  Else a client that says that it is a manager or an iod must
	 * prove it.  Outlives the server.
	 */
	const struct prover *prover;
	/* NULL: clients are who they say they are.  Needs prover.  Outlives the server. */
	const struct ticket_hooks *keeper;
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
	/* servers that this one called and that did not prove to be one */
	uint64_t unproven;
};
void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats);

/* ---- statistics ---- */

/*
 * Adds a row: a current value; a count since the start; a distribution of times, which only takes
 * the place of a row before the first event.  Each answer must add the same rows in the same
 * order, because a long answer continues at the place of a row.  by and of: its label.  NULL: no label, which only the first two allow.
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
/* Reads or writes that a client did without requests. */
struct rpc_direct_io {
	uint64_t n, bytes, ns;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};
/*
 * A client of that label reports that it read io[0] and wrote io[1] more, without requests.
 * From any thread of the server; takes a lock.
 */
void rpc_server_add_direct_io(struct rpc_server *server,
			      const struct rpc_label *label,
			      const struct rpc_direct_io io[2]);
/* The current label of the session; from its thread. */
void rpc_session_label(const struct rpc_session *session,
		       struct rpc_label *label);

/* ---- sessions ---- */

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
bool rpc_session_is_connected(const struct rpc_session *session);
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

/* ---- requests ---- */

/*
 * A request.  msg and all that it points to stay valid until rpc_reply_send() or rpc_req_abort(),
 * also if the connection breaks.
 */
struct rpc_req {
	struct wire_msg msg;
	unsigned int op;
	unsigned int slot;
	uint64_t seq;
	/* When the client stops waiting, at most RPC_WAIT_MAX_MS after the arrival. */
	uint64_t deadline;
	/*
	 * The same on clock_boot().  After it, the client may have reported that the request
	 * failed.
	 */
	uint64_t expiry;
	/* WIRE_F_STATE_LOST: an earlier server process may have executed it */
	bool state_lost;
	struct rpc_session *session;
	void *priv;			/* belongs to the service */
};

/* Maximum wait, whatever a client asks for. */
#define RPC_WAIT_MAX_MS (25u * 3600 * 1000)
/*
 * Whether the expiry has passed.  Then no change may begin.  Call it immediately before a change;
 * if it returns true, answer -ETIMEDOUT.
 */
bool rpc_req_late(const struct rpc_req *req);
/*
 * A request that waits for another server, a disk or a lease keeps a slot of its client.  The
 * client uses only some of its slots for such requests.  If rpc_req_may_wait() is false, this
 * request is not one of those.  It may wait only until rpc_req_wait_until() (clock_now()).  If it
 * was not executed by then, answer -EINPROGRESS.  The client sends it again, as one that may wait
 * until its deadline.
 */
#define RPC_WAIT_BRIEF_MS 20u
bool rpc_req_may_wait(const struct rpc_req *req);
uint64_t rpc_req_wait_until(const struct rpc_req *req);
/*
 * Closes the connection of the request if it is still there.  Then its bulks no longer access
 * memory.  Calls done() for the bulks of all requests on that connection.
 */
void rpc_req_disconnect(struct rpc_req *req, int status);

/*
 * The data of a WRITE that came with it, all that mem names; NULL: it did not come with it.  The
 * client can change it at any time.
 */
const void *rpc_req_data(const struct rpc_req *req);
/*
 * rpc_req_identity(): the identity of the client that its kernel reports (tp_ep_identity()).
 * rpc_req_send_fds(): sends descriptors before the reply (tp_ep_pass()).  Both return -ENOTCONN
 * if the connection of the request is gone.
 */
int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id);
int rpc_req_send_fds(struct rpc_req *req, const int *fd, unsigned int n);
/*
 * rpc_req_epoch(): of the connection of the request; 0: its session has another connection now,
 * or none.  rpc_req_admit(): from now on, the session belongs to *who, and can be resumed only
 * with a ticket or the identity from the kernel.  It returns 0; -ESTALE: the session has another
 * connection; -EAGAIN, -EBUSY, -WIRE_ENOSEATS, -WIRE_ENOFILES: there is no place for it.
 */
uint32_t rpc_req_epoch(const struct rpc_req *req);
int rpc_req_admit(struct rpc_req *req, const struct admitted *who);
/*
 * The connection must be sealed and is not: the client may prove its identity, and nothing else.
 */
bool rpc_req_lacks_seal(const struct rpc_req *req);
/*
 * rpc_req_seal_in_place(): the mode in which the connection can be sealed in place, after an
 * answer; SEAL_NONE: it cannot.  rpc_reply_send_and_seal(): calls rpc_reply_send(), and then
 * seals the connection with the sealer that in_place makes.  If that fails, the connection ends.
 */
enum seal_mode rpc_req_seal_in_place(const struct rpc_req *req);
void rpc_reply_send_and_seal(struct rpc_req *req, const struct seal_in_place *in_place);
/* The rail of the ctx that its bulk data uses. */
unsigned int rpc_req_rail(const struct rpc_req *req);

/*
 * Builds the reply in the buffer of the slot.  rpc_reply_begin() returns a wire_out (wire_begin()
 * is done).  rpc_reply_end() finishes it with status (0, -errno or WIRE_REDIRECT).
 * rpc_reply_bytes() returns its bytes (for a durable reply cache).  rpc_reply_send() posts it and
 * frees req.
 *
 * Flags of rpc_reply_end(): RPC_REEXECUTE: a replay executes again (reads).  RPC_WHOLE: a read
 * with status 0 gave all its bytes to rpc_bulk_start(), and the object continues after them.  A
 * client that asks for it (WIRE_F_WHOLE) then needs no reply, only the arrival of the data.
 */
#define RPC_REEXECUTE 0x1u
#define RPC_WHOLE 0x2u
struct wire_out *rpc_reply_begin(struct rpc_req *req);
void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags);
/*
 * Between the two, after the last part of body and tail: the reply ends with a struct wire_caps.
 */
void rpc_reply_caps(struct rpc_req *req);
const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len);
void rpc_reply_send(struct rpc_req *req);
/* rpc_reply_begin(), _end() and _send() for a reply without a body. */
void rpc_reply_status(struct rpc_req *req, int status);
/*
 * Not executed, as if never received, because the connection broke while data of the request was
 * in flight.  A replay executes again.  Frees req.
 */
void rpc_req_abort(struct rpc_req *req);

/*
 * Where the time of a request is spent, for the log line about a slow one.  The request is in the
 * last of these parts that it entered and did not leave, else in RPC_OTHER.  Uses the time that
 * the context has read already.  Call it from the thread of the session, before the answer.
 */
enum rpc_part { RPC_OTHER, RPC_QUEUE, RPC_BUFFER, RPC_NETWORK, RPC_DISK, RPC_FLUSH,
		RPC_PARTS };
void rpc_req_enter(struct rpc_req *req, enum rpc_part part);
void rpc_req_leave(struct rpc_req *req, enum rpc_part part);
/*
 * As rpc_req_leave(), but the time until began (clock_now()) counts as RPC_QUEUE.  began 0: none
 * does.
 */
void rpc_req_leave_from(struct rpc_req *req, enum rpc_part part, uint64_t began);
/* The request waits because its client wants that: it does not count as slow. */
void rpc_req_expect_wait(struct rpc_req *req);

/* ---- bulk data ---- */

/*
 * Bulk data.  The server reads (RPC_GET) or writes (RPC_PUT) the bytes [mem_off, mem_off + len)
 * of the wire_mem list of the request, in the client's memory.  Locally it uses len bytes of
 * registered memory.  It posts one chain of work requests, of which only the last is signaled.
 * The caller owns the bulk and keeps it until done().
 *
 * rpc_reply_send() may follow a PUT immediately: the reply does not overtake the data.  done()
 * still comes, and means that the local memory is free.  done() with an error: the connection
 * broke.  Call rpc_req_abort() then, if the request is still held.  done() is never called from
 * rpc_bulk_start().
 *
 * A bulk beyond rdma_max waits.  Connections take turns, and the replies to such PUTs wait with
 * them.  If clients carry data, the bulks of a request may end in any order.
 */
enum rpc_bulk_dir { RPC_GET, RPC_PUT };
struct rpc_bulk {
	enum rpc_bulk_dir dir;
	const struct wire_mem *mem;
	unsigned int nmem;
	uint64_t mem_off;
	const struct rail_sge *local;	/* read during the start only */
	unsigned int nlocal;
	uint64_t len;
	/* Of a PUT: the caller promises to call rpc_reply_send() of the request next. */
	bool last;
	/*
	 * The client may move it, if local is one piece; see struct rpc_server_attr.  The memory
	 * of a GET is cleared first.
	 */
	bool lend;
	/* local is part of the object; for statistics */
	bool mapped;
	void (*done)(struct rpc_bulk *bulk, int status);
	void *arg;
	/* private */
	TAILQ_ENTRY(rpc_bulk) link;
	struct rpc_req *req;
	struct rail_sge *copy;
	unsigned int nwr;
};
#define RPC_LOCAL_MAX 1024u
/*
 * Returns 0.  -ENOTCONN: there is no connection now.  -EINVAL: no bytes, a window outside the
 * list, less local memory than len, or nlocal above RPC_LOCAL_MAX.  -ENOMEM, or as tp_mr_reg()
 * for local memory that is not registered yet.
 */
int rpc_bulk_start(struct rpc_req *req, struct rpc_bulk *bulk);

#endif

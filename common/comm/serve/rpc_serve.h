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

/* The manager of several that leads, for -WIRE_ENOTLEADER. */
struct rpc_leader {
	uint32_t index;			/* WIRE_LEADER_NONE if unknown */
	/*
	 * address of the leader; clients are not told it if it is "" or longer than
	 * WIRE_LEADER_URI_MAX
	 */
	char uri[WIRE_URI_MAX + 1];
};

struct rpc_service {
	/*
	 * May be NULL. Called for each HELLO, of a new or a resumed session: a client at the
	 * address peer claims the role. Returns 0, or -errno with which the server rejects the
	 * client. Any thread of the server may call it.
	 */
	int (*session_admit)(void *arg, enum wire_role role, const char *peer,
			     const struct rpc_cred *cred);
	/*
	 * Called after session_admit() returned -WIRE_ENOTLEADER: sets *leader to the manager that
	 * leads. Any thread of the server may call it. NULL if this server is not one of several
	 * managers.
	 */
	void (*find_leader)(void *arg, struct rpc_leader *leader);
	/*
	 * Called at the first HELLO of a session in this server process. May call
	 * rpc_session_seed(). Returns 0 if the session is new; 1 if an earlier process had the
	 * session, and the client continues it; or -errno: the server then rejects the session.
	 */
	int (*session_open)(void *arg, struct rpc_session *session);
	/*
	 * May be NULL. Called when the session has a new connection, which may be from another
	 * address (rpc_session_info.peer).
	 */
	void (*session_reconnected)(void *arg, struct rpc_session *session);
	/*
	 * Called when the session has ended and the service holds none of its requests. clean means
	 * that the client sent BYE, and that no request of the session may still be executed
	 * elsewhere. It is false if the session was disconnected for session_ttl_ms, was fenced, or
	 * lost its place to another one. Until this function returns, the server rejects the id. It
	 * may call rpc_server_fence(), so that the server also rejects the id afterwards.
	 */
	void (*session_close)(void *arg, struct rpc_session *session,
			      bool clean);
	/*
	 * May be NULL. Called before the session is freed: after session_close(), or in
	 * rpc_server_close() without session_close(). The service frees its rpc_session_info.priv
	 * here.
	 */
	void (*session_free)(void *arg, struct rpc_session *session);
	/*
	 * Returns whether METRICS shows the session the counts of all users, not only its own. If
	 * NULL, METRICS shows them to sessions of root and of the user of the server process.
	 */
	bool (*sees_all)(void *arg, struct rpc_session *session);
	/*
	 * Returns whether a connection from peer may use the reserve of a full server. For the role
	 * of a client, the connection is of a tool, which has proved to be uid. For the role of the
	 * manager, without prover, uid is unknown, and the function decides by the address peer.
	 * Called before session_open(), by any thread of the server. If NULL, tools may use the
	 * reserve as in sees_all(), and no manager may.
	 */
	bool (*may_reserve)(void *arg, enum wire_role role, const char *peer,
			    uint32_t uid);
	/*
	 * May be NULL. Called before METRICS is answered: the service calls
	 * rpc_server_add_direct_io() for the reads and writes that clients made without requests.
	 */
	void (*report_direct_io)(void *arg);
	/*
	 * May be NULL. Returns the handle of the object that req concerns, or 0 if there is none.
	 * Called for the list of busy objects in METRICS, and for log lines about slow requests.
	 */
	uint64_t (*object)(const struct rpc_req *req);
	/*
	 * May be NULL. Writes the name of a busy object, which METRICS shows to administrators:
	 * WIRE_METRIC_NAME bytes, padded with zeros.
	 */
	void (*name)(void *arg, uint64_t handle, uint8_t *name);
	/*
	 * May be NULL. Adds the service's own rows to the reply to METRICS: always the same rows in
	 * the same order. Any thread of the server may call it.
	 */
	void (*metrics)(void *arg, struct rpc_metrics *metrics);
	/*
	 * Called for each request, which wire_parse() has checked.  The service calls
	 * rpc_reply_send() or rpc_req_abort() for it, exactly once, now or later.
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
	struct addr addr;		/* pvfs:// means all rails */
	uint64_t fsid;
	/* new at every start: random, or as WIRE_FT_LIFE requires */
	uint64_t boot;
	/*
	 * Networks from which clients may connect; programs on this host always may, over local.
	 * NULL, or empty: all networks.  Outlives the server.
	 */
	const struct networks *allow;
	/*
	 * If NULL, there is no authentication. Otherwise a client in the role of a manager or an
	 * iod must prove this role. Outlives the server.
	 */
	const struct prover *prover;
	/*
	 * Authenticates the users of clients. If NULL, the server trusts the user ids in requests.
	 * Needs prover. Outlives the server.
	 */
	const struct ticket_hooks *keeper;
	/* with prover, the minimum for connections that can be sealed and must authenticate */
	enum seal_mode seal;
	/* with prover, the role of this server, */
	enum wire_role role;
	uint32_t index;			/* and the number of an iod */
	/* the WIRE_FT_* of the service, except _V3, and _PROOF, which prover implies */
	uint32_t features;
	unsigned int slots;		/* slots of each session */
	/* bytes; a connection needs slots * request_max */
	size_t request_max;
	/* bytes; a session needs slots * reply_max */
	size_t reply_max;
	/*
	 * bytes of data in a request; if not set, up to request_max, or less on rails that pin
	 * memory
	 */
	struct sizes inline_max;
	/* Bytes of Fast RDMA buffers for all sessions; 0 means none (fast.h). */
	size_t fast_bytes;
	/*
	 * Maximum bytes of bulk data outstanding; each context has an equal part. A client must
	 * wait if it has as many bytes outstanding as are still free. So a single client gets at
	 * most half. 0 means no limit.
	 */
	uint64_t rdma_max;
	/*
	 * If a bulk has rpc_bulk.lend set, the server may ask the client to move its data.  It
	 * does so if more than carry_above bytes would be outstanding, or if the bulk would have
	 * to wait.  It asks only clients that offered this in HELLO.
	 */
	bool carry;
	uint64_t carry_above;		/* each context has an equal part */
	/* time until lent memory is withdrawn; 0 means half of stall_ms */
	unsigned int carry_ms;
	unsigned int max_sessions;
	/*
	 * maximum sessions of one host (IPv6: one /64), or of one user over local; 0 means no limit
	 */
	unsigned int host_sessions;
	/* time that a session is kept without a connection */
	unsigned int session_ttl_ms;
	/*
	 * A connection ends if the client sends no HELLO for this long, or if bulk data is
	 * outstanding and does not move. 0 means 10000.
	 */
	unsigned int stall_ms;
	/* A request that took this long is logged; 0 means that none is. */
	unsigned int slow_ms;
	const struct rpc_service *service;
	void *arg;
};
/*
 * Creates *server, which listens at attr->addr.  The caller starts the threads of the other
 * contexts afterwards.  The server distributes the sessions over the contexts; all callbacks of a
 * session run in the thread of its context.  Returns 0 or -errno.
 */
int rpc_server_open(const struct rpc_server_attr *attr,
		    struct rpc_server **server);
/* Frees the server. The threads of all contexts have stopped. Requests in flight are dropped. */
void rpc_server_close(struct rpc_server *server);
/* Sets *addr to the address in use (with the port that was chosen). */
void rpc_server_addr(const struct rpc_server *server, struct addr *addr);
struct rpc_server_stats {
	uint64_t requests, sessions, protocol_errors, replays;
	uint64_t fast;			/* requests by Fast RDMA */
	/* replies by RDMA Write with immediate */
	uint64_t placed;
	/* reads that ended with their last RDMA Write, without a reply */
	uint64_t whole;
	/* connections that got no Fast RDMA buffers */
	uint64_t fast_refused;
	size_t fast_bytes;		/* bytes of Fast RDMA buffers now */
	uint64_t rdma_waits;		/* bulks that had to wait */
	/* bulks outstanding when a connection ended */
	uint64_t rdma_cut;
	/* maximum of bytes outstanding, summed over the contexts */
	uint64_t rdma_most;
	uint64_t carried, carried_bytes; /* bulks that clients moved */
	/* bulks that clients declined to move */
	uint64_t carry_declined;
	/* bulks that were withdrawn from clients */
	uint64_t carry_late;
	uint64_t conns;			/* connections now */
	/* memory of connections and sessions now, with kept replies */
	uint64_t client_bytes;
	/* receives that connections share, now */
	uint64_t shared, shared_bytes;
	/* messages that were copied, because the client held more than its share */
	uint64_t shared_copies;
	/* bytes of requests and replies, over connections */
	uint64_t message_bytes;
	/*
	 * connections with an endpoint for bulk data now; bytes over these endpoints, with the
	 * replies after the data
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
 * Add a row to METRICS: the present value n; a count n since the start; or a distribution of times,
 * which is sent only after its first event. A service must add the same rows in the same order each
 * time, because a long reply continues at the number of a row. by is the key of the row's label and
 * of its value; if it is NULL, the row has no label (not for rpc_metrics_times()). name and by
 * consist of a-z and _, and name ends in its unit.
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
 * Adds the reads io[0] and the writes io[1] that a client with this label made without requests
 * since its last report.  Any thread of the server may call it; takes a lock.
 */
void rpc_server_add_direct_io(struct rpc_server *server,
			      const struct rpc_label *label,
			      const struct rpc_direct_io io[2]);
/* Sets *label to the present label of the session. Only for the thread of the session. */
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
	 * From the ticket of its connection, or from rpc_req_admit(): see struct admitted. 0 if
	 * there was none.
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
 * Called in session_open(): tells the server the last request of a slot, which has the number seq,
 * and its reply of len bytes, which is copied. Returns 0, or -EINVAL if the slot or the reply is
 * impossible.
 */
int rpc_session_seed(struct rpc_session *session, unsigned int slot,
		     uint64_t seq, const void *reply, size_t len);
/*
 * Fences the session: closes its connection, does not answer its requests, ends it
 * (session_close()), and from then on rejects its id with -ESTALE.  Any thread of the server may
 * call it.  The server remembers the last RPC_FENCE_MAX fences, and as many of sessions whose owner
 * has not authenticated.  If another client has already proved to own the id of such a session, the
 * session only ends, and the id is not rejected.
 */
#define RPC_FENCE_MAX 65536u
void rpc_server_fence(struct rpc_server *server, uint64_t session);
/* As rpc_server_fence(), but the server rejects clients with WIRE_FT_EVICT with -EKEYREVOKED. */
void rpc_server_evict(struct rpc_server *server, uint64_t session);
/* Returns whether the server rejects the id of the session since one of these.  On any thread. */
bool rpc_server_has_fenced(struct rpc_server *server, uint64_t session);
/* Returns whether the session exists: its session_close() has not returned yet. */
bool rpc_server_knows(struct rpc_server *server, uint64_t session);
/*
 * Calls fn for each open session.  Only for a server with one context, in its thread.  fn must not
 * call rpc_server_fence(), because the server's lock is held.
 */
void rpc_server_each(struct rpc_server *server,
		     void (*fn)(void *arg, struct rpc_session *session),
		     void *arg);

/* ---- requests ---- */

/*
 * A request.  msg, and all that it points to, is valid until the service calls rpc_reply_send() or
 * rpc_req_abort(), even if the connection breaks.
 */
struct rpc_req {
	struct wire_msg msg;
	unsigned int op;
	unsigned int slot;
	uint64_t seq;
	/* clock_now() until which the client waits, at most RPC_WAIT_MAX_MS after the arrival */
	uint64_t deadline;
	/* clock_boot() after which the client may have reported that the request failed */
	uint64_t expiry;
	/* WIRE_F_STATE_LOST is set: an earlier server process may have executed the request */
	bool state_lost;
	struct rpc_session *session;
	void *priv;			/* belongs to the service */
};

/* The maximum wait, whatever deadline a client asks for. */
#define RPC_WAIT_MAX_MS (25u * 3600 * 1000)
/*
 * Returns whether the expiry of req has passed.  The service calls it immediately before a change.
 * If it returns true, the service must not make the change, and answers -ETIMEDOUT.
 */
bool rpc_req_late(const struct rpc_req *req);
/*
 * Limits on waiting.  A request that waits for another server, a disk or a lease occupies a slot of
 * its client, and the client uses only some slots for such requests.  rpc_req_may_wait() returns
 * true if the client has sent req in one of these.  If not, req may wait only until
 * rpc_req_wait_until() (clock_now()).  If the service could not execute it by then, it answers
 * -EINPROGRESS.  The client then sends req again in a slot in which it may wait.
 */
#define RPC_WAIT_BRIEF_MS 20u
bool rpc_req_may_wait(const struct rpc_req *req);
uint64_t rpc_req_wait_until(const struct rpc_req *req);
/*
 * Closes the connection of the request, if it is still open, so that its bulks no longer access
 * memory.  Calls done() with status for the bulks of all requests on that connection.
 */
void rpc_req_disconnect(struct rpc_req *req, int status);

/*
 * Returns all the data of a WRITE if it arrived with the request, or NULL if the server must fetch
 * it. See rpc_req_data_may_change().
 */
const void *rpc_req_data(const struct rpc_req *req);
/* Whether this data lies where the client can still change it. */
bool rpc_req_data_may_change(const struct rpc_req *req);
/*
 * rpc_req_identity() sets *id to the identity of the client that the kernel reports
 * (tp_ep_identity()).  rpc_req_send_fds() sends n descriptors before the reply (tp_ep_pass()).
 * Both return 0 or -errno; -ENOTCONN: the connection of the request is closed.
 */
int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id);
int rpc_req_send_fds(struct rpc_req *req, const int *fd, unsigned int n);
/*
 * rpc_req_epoch() returns the number of the request's connection, or 0 if it is no longer the
 * session's connection. rpc_req_admit() makes *who the proved owner of the session. From then on, a
 * client can resume the session only with a ticket or with the identity from the kernel. Returns 0;
 * -ESTALE if the session has another connection; or an error of seat_assign() if the server has no
 * place for the session.
 */
uint32_t rpc_req_epoch(const struct rpc_req *req);
int rpc_req_admit(struct rpc_req *req, const struct admitted *who);
/*
 * Returns true if the connection must be sealed and is not.  Then the service executes only
 * requests by which the client authenticates.
 */
bool rpc_req_lacks_seal(const struct rpc_req *req);
/*
 * rpc_req_seal_in_place() returns the mode in which the open connection can be sealed after a
 * reply, or SEAL_NONE if it cannot be sealed. rpc_reply_send_and_seal() calls rpc_reply_send(), and
 * then seals the connection with the sealer that in_place creates. If sealing fails, the connection
 * ends.
 */
enum seal_mode rpc_req_seal_in_place(const struct rpc_req *req);
void rpc_reply_send_and_seal(struct rpc_req *req, const struct seal_in_place *in_place);
/* Returns the rail that the bulk data of req uses. */
unsigned int rpc_req_rail(const struct rpc_req *req);

/*
 * Building the reply, in the buffer of the slot.  rpc_reply_begin() returns a wire_out on which
 * wire_begin() was called, and to which the service adds body and tail.  rpc_reply_caps() may
 * follow: the reply then ends with a struct wire_caps.  rpc_reply_end() completes the reply with
 * status (0, -errno or WIRE_REDIRECT).  rpc_reply_bytes() returns its bytes, for a durable reply
 * cache.  rpc_reply_send() posts the reply and frees req.
 *
 * Flags of rpc_reply_end():
 * - RPC_REEXECUTE: a replay executes the request again (reads).
 * - RPC_WHOLE: the service has passed all bytes of a read to rpc_bulk_start(), and the object
 *   continues after them.  If the client permits that (WIRE_F_WHOLE), the server sends no reply:
 *   the data is enough.
 */
#define RPC_REEXECUTE 0x1u
#define RPC_WHOLE 0x2u
struct wire_out *rpc_reply_begin(struct rpc_req *req);
void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags);
void rpc_reply_caps(struct rpc_req *req);
const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len);
void rpc_reply_send(struct rpc_req *req);
/* Calls rpc_reply_begin(), _end() and _send() for a reply without a body. */
void rpc_reply_status(struct rpc_req *req, int status);
/*
 * Frees req without a reply, as if it had never arrived, after the connection broke while data of
 * the request was in flight.  A replay executes the request.
 */
void rpc_req_abort(struct rpc_req *req);

/*
 * The causes of delay, for the log line about a slow request.  The time of a request counts for
 * the part that it entered last and has not left; otherwise for RPC_OTHER.  These functions use
 * the time that the context has read already.  Only the thread of the session may call them,
 * before the reply.
 */
enum rpc_part { RPC_OTHER, RPC_QUEUE, RPC_BUFFER, RPC_NETWORK, RPC_DISK, RPC_FLUSH,
		RPC_PARTS };
void rpc_req_enter(struct rpc_req *req, enum rpc_part part);
void rpc_req_leave(struct rpc_req *req, enum rpc_part part);
/*
 * As rpc_req_leave(), but of the time in part, the time until began (clock_now()) counts as
 * RPC_QUEUE. If began is 0, no time counts as RPC_QUEUE.
 */
void rpc_req_leave_from(struct rpc_req *req, enum rpc_part part, uint64_t began);
/* Called if the client asked the server to wait (for a lock): req does not count as slow. */
void rpc_req_expect_wait(struct rpc_req *req);

/* ---- bulk data ---- */

/*
 * A bulk: the server reads (RPC_GET) or writes (RPC_PUT) the client's memory, len bytes from byte
 * mem_off on of the memory that the request names in mem.  local is the server's own memory.  The
 * caller owns the bulk, and must not change or free it from rpc_bulk_start() until done().
 *
 * The caller may call rpc_reply_send() immediately after a PUT, because the reply does not overtake
 * the data.  done() means that the local memory is free.  It is never called inside
 * rpc_bulk_start().  If its status is an error, the connection broke; the caller then calls
 * rpc_req_abort(), unless it has sent the reply.
 *
 * If rdma_max is reached, a bulk waits; connections take turns.  The reply to a PUT that waits also
 * waits.  If clients move data (carry), the bulks of a request may end in any order.
 */
enum rpc_bulk_dir { RPC_GET, RPC_PUT };
struct rpc_bulk {
	enum rpc_bulk_dir dir;
	const struct wire_mem *mem;
	unsigned int nmem;
	uint64_t mem_off;
	const struct rail_sge *local;	/* only rpc_bulk_start() reads it */
	unsigned int nlocal;
	uint64_t len;
	/*
	 * for a PUT: the caller will call rpc_reply_send() next, so that both can be sent together
	 */
	bool last;
	/*
	 * The server may ask the client to move the data (rpc_server_attr.carry), if local is one
	 * piece.  For a GET, the server clears the local memory first.
	 */
	bool lend;
	/* local is part of the object; only for statistics */
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
 * Starts the bulk.  Returns 0, or without starting it:
 * - -ENOTCONN: the connection of the request is closed.
 * - -EINVAL: len is 0, the bytes are outside mem, local has fewer than len bytes, or nlocal is
 *   above RPC_LOCAL_MAX.
 * - -ENOMEM, or the error of registering local memory (tp_mr_reg()).
 */
int rpc_bulk_start(struct rpc_req *req, struct rpc_bulk *bulk);

#endif

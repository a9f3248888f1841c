/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc.h - requests and replies over the transport seam.
 *
 * Flow control.  A session owns a small table of slots at each server; a
 * request occupies one slot until its reply.  The server posts one receive
 * per slot, the client one per request in flight: slots are the paper's
 * credits (ICPP 2003, section 3.3.1), and a receiver is never found not
 * ready.  Every reply carries the number of slots the client may use.
 *
 * Exactly once.  A request is named by (session, slot, seq).  The server
 * keeps the last reply of each slot; after a broken connection the client
 * reconnects and replays what was outstanding, and a replay that was already
 * executed gets the kept reply.
 *
 * Deadlines.  Every call has one.  Until then the client reconnects and
 * replays as often as it takes; then the call is done with -ETIMEDOUT and one
 * log line names the server.  The server knows the deadline, on its own clock and
 * not later: see offset.h and rpc_req_late().
 *
 * Threads.  All functions on a ctx and what was made on it belong to one
 * thread at a time, except rpc_ctx_wake().
 */
#ifndef RPC_H
#define RPC_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "fabric.h"
#include "log.h"
#include "rail.h"
#include "sizes.h"
#include "transport.h"
#include "wire.h"

struct rpc_ctx;
struct rpc_peer;
struct rpc_server;
struct rpc_session;
struct rpc_req;

/* ---- progress context ---- */

struct rpc_ctx_attr {
	const struct fabric *fabric;	/* outlives the ctx */
	struct tp_dev *dev;		/* fabric NULL: the only device */
	const struct log *log;
	unsigned int poll_us;		/* poll and yield this long before
					 * sleeping, seldom where that is in
					 * vain; 0: sleep at once */
	unsigned int far_us;		/* so long where that pays (spin.h) */
	enum pins_mode pins;		/* of memory with rail_mem.keep; 0: off */
	struct sizes inline_max;	/* of clients: the payload of a write that
					 * goes in its message, and */
	struct sizes fast_max;		/* by Fast RDMA; what is not said is
					 * chosen (call_way.h) */
	bool carry;			/* of clients: servers may ask them to move
					 * payload themselves (rendezvous.h) */
};
int rpc_ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **ctx);
/* Peers and servers of the ctx must be closed. */
void rpc_ctx_close(struct rpc_ctx *ctx);
/* In a child after fork(): see tp_cq_abandon(); peers and servers as well. */
void rpc_ctx_abandon(struct rpc_ctx *ctx);
const struct rails *rpc_ctx_rails(const struct rpc_ctx *ctx);

/*
 * Moves everything once: flushes, polls, runs callbacks and timers.  If there
 * was nothing to do it sleeps until there is, rpc_ctx_wake(), or the
 * deadline.  Returns the number of things handled (0 after a wake or the
 * deadline).  Callbacks run only from here.
 */
int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline);
/* When that was called last, clock_now(). */
uint64_t rpc_ctx_progressed(const struct rpc_ctx *ctx);
/*
 * Calls started between the two may go out at the release only, which follows
 * without a wait: for those that go to several peers.  Does not nest.
 */
void rpc_ctx_hold(struct rpc_ctx *ctx);
void rpc_ctx_release(struct rpc_ctx *ctx);
/* From any thread or signal handler. */
void rpc_ctx_wake(struct rpc_ctx *ctx);

/* A one-shot timer, caller-owned; fires from rpc_ctx_progress(). */
struct rpc_timer {
	void (*fire)(struct rpc_timer *timer);
	uint64_t at;			/* private below */
	TAILQ_ENTRY(rpc_timer) link;
	bool armed;
};
void rpc_timer_set(struct rpc_ctx *ctx, struct rpc_timer *timer, uint64_t at);
void rpc_timer_clear(struct rpc_ctx *ctx, struct rpc_timer *timer);

/* Part of a call: its deadline, in a list of all. */
struct rpc_due {
	uint64_t at;
	TAILQ_ENTRY(rpc_due) link;
};

/* ---- client side ---- */

struct rpc_cred {
	uint32_t uid, gid;
	uint32_t ngroups;		/* at most WIRE_GROUPS_MAX */
	uint32_t groups[WIRE_GROUPS_MAX];
	char name[64];			/* "host:pid:program", for the server's log */
};

struct rpc_peer_attr {
	struct addr addr;		/* pvfs://: over the best rail that
					 * answers, chosen at each connect */
	const char *name;		/* "iod 2", for messages; copied */
	const char *fix;		/* what to look at when it cannot be
					 * reached, or NULL; outlives the peer */
	enum wire_role role;		/* who we are */
	uint64_t fsid;			/* 0: any */
	uint64_t session;		/* one per client instance, random, not 0 */
	const struct rpc_cred *cred;	/* copied */
	bool impatient;			/* as long as it was never connected, a
					 * connect that fails ends all calls with
					 * its error; nothing is logged */
	bool group;			/* calls go to several such peers at a time,
					 * and are waited for together */
	/* first contact, or the server does not know the session any more;
	 * calls may be started from here, behind those in flight, which were
	 * sent again; may be NULL */
	void (*fresh)(void *arg, struct rpc_peer *peer);
	/* the connection was lost, or a try to make one failed, with status
	 * (-ECONNREFUSED: nobody listens there); may be NULL */
	void (*lost)(void *arg, int status);
	void *arg;
};

/* A server as a client sees it.  Connects at the first call; never blocks. */
int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **peer);
/*
 * Calls in flight are done with -ECANCELED before it returns.  bye: tell the
 * server that the session ends (best effort, does not wait for the answer).
 */
void rpc_peer_close(struct rpc_peer *peer, bool bye);
/*
 * A write was given up after it had been sent, and was never answered: the server
 * may still carry it out.
 */
bool rpc_peer_owes(const struct rpc_peer *peer);
/* Its BYE says that this is so of another server: the session ends unclean. */
void rpc_peer_unsure(struct rpc_peer *peer);
/* "iod 2 (tcp://10.0.0.7:7000)"; lives with the peer. */
const char *rpc_peer_name(const struct rpc_peer *peer);
/*
 * The transport in use ("local"; "-": none yet) and why ("same host"; "local:
 * another host; verbs: not in this build").  They change when the connection
 * is made again.
 */
const char *rpc_peer_transport(const struct rpc_peer *peer);
const char *rpc_peer_reason(const struct rpc_peer *peer);
/* It is connected.  For who drives the context. */
bool rpc_peer_ready(const struct rpc_peer *peer);
/*
 * A moment of our clock_boot(), not before now, on the server's, and not later than it
 * truly is there; 0: nothing is known of that.
 */
uint64_t rpc_peer_clock(const struct rpc_peer *peer, uint64_t when);
/* The most payload that goes in a message on the rail in use. */
uint32_t rpc_peer_inline_max(const struct rpc_peer *peer);

/*
 * How the payload of requests went (call_way.h): in a message, by Fast RDMA, or
 * fetched and delivered by servers.  From any thread; what goes out again after a
 * broken connection counts again.
 */
struct rpc_ways {
	uint64_t inlined, fast, direct;
};
void rpc_ctx_ways(const struct rpc_ctx *ctx, struct rpc_ways *ways);

/*
 * A call, owned by the caller from rpc_call_start() until done().  msg is a
 * message built with wire_begin()/wire_end(): it is copied at the start.
 * data is inline data gathered from the caller's memory, which stays
 * unchanged until done().
 *
 * The struct wire_mem pieces of msg name memory by addr and len; each lies
 * within one of area[0..nareas).  Their rkeys are filled in whenever the
 * message goes out, for the rail in use; an area is registered there when
 * needed.  area and what it points to stay until done() and belong to the
 * ctx's thread meanwhile.  Without areas the pieces are left as they are.
 *
 * The bytes of a WRITE's pieces may go along with the message instead, if they
 * are few (call_way.h); then nothing is registered.  Those of a READ may land
 * in a buffer, if bounce is set: then the caller takes them from there.
 */
struct rpc_call {
	const void *msg;
	size_t msg_len;			/* as wire_end() returned, less data */
	const struct iovec *data;	/* copied; the memory is not */
	unsigned int ndata;		/* at most RPC_DATA_MAX */
	struct rail_mem *const *area;
	unsigned int nareas;
	unsigned int pieces_at, npieces; /* struct wire_mem in msg: byte, how many */
	uint64_t deadline;		/* absolute; never CLOCK_NEVER */
	uint64_t bytes;			/* of payload; what others move for us
					 * is waited for asleep, if it is much */
	const void *joined;		/* the same: as one, join.c; NULL: none */
	bool bounce;			/* done() copies from landed */
	bool quiet;			/* no line in the log when that passes:
					 * the caller tries again, or says more */
	void (*done)(struct rpc_call *call);
	/*
	 * The connection broke because memory of a call was not there.  True:
	 * this call's, which is then done with -EFAULT; the others are sent
	 * again.  NULL: false.
	 */
	bool (*faulty)(struct rpc_call *call);
	void *arg;

	/* Results, for done(): 0, -errno, or WIRE_REDIRECT.  On 0 and
	 * WIRE_REDIRECT reply is a parsed message, valid only in done(). */
	int status;
	bool unsure;			/* status is no answer of the server, which
					 * may have executed the request */
	struct wire_msg reply;
	const void *landed;		/* in done(), status 0: where the pieces'
					 * bytes are, one behind the other; NULL:
					 * in their place */

	/* private */
	struct rpc_call_priv {
		TAILQ_ENTRY(rpc_call) link;
		struct rpc_due due;
		struct rpc_peer *peer;
		int where;		/* slot, or CALL_* in call.c */
		uint64_t moving;	/* of bytes, without our help */
		void *copy;		/* while it waits for a slot */
	} p;
};
#define RPC_DATA_MAX 64u

/*
 * Never fails: errors come through done(), which is not called from here.
 * If the caller's memory was named in the message (wire_mem), done() means
 * that the server does not touch it any more, unless status is -ETIMEDOUT or
 * -ECANCELED: then deregister it before reuse; late access breaks the
 * connection, which is re-made.
 */
void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call);
/* done() with -ECANCELED now, if the call is still outstanding.  call was
 * started once, or is zero. */
void rpc_call_cancel(struct rpc_call *call);
/*
 * Another call of the same operation ended with status: cancels this one if
 * that was an answer, an error, and this one's server is not connected, so
 * that nobody waits for it in vain.  But not a WRITE that was sent: until its deadline
 * the server may carry it out, and nobody may be told before that it failed.
 */
void rpc_call_forgo(struct rpc_call *call, int status);

/* ---- server side ---- */

struct rpc_service {
	/*
	 * A session says HELLO for the first time since the server started.
	 * May seed slots with rpc_session_seed().  0: it is new; 1: it is
	 * known from before the restart (so that the client is not told to
	 * start afresh); -errno to refuse.
	 */
	int (*session_open)(void *arg, struct rpc_session *session);
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
	uint64_t boot;			/* random, new at every start */
	unsigned int slots;		/* per session */
	size_t request_max;		/* bytes; slots * request_max a connection */
	size_t reply_max;		/* bytes; slots * reply_max a session */
	struct sizes inline_max;	/* room for data in a request; not said: by
					 * request_max, less where memory is
					 * pinned */
	size_t fast_bytes;		/* of Fast RDMA buffers for all sessions;
					 * 0: none (fast.h) */
	uint64_t rdma_max;		/* bytes of bulk data outstanding, shared
					 * by the contexts, half of that for one
					 * client; 0: no bound */
	bool carry;			/* where the client does so, too: it is asked to
					 * move data for which rpc_bulk.lend is set
					 * when more is under way than: */
	uint64_t carry_above;		/* bytes of bulk data, shared as rdma_max */
	unsigned int carry_ms;		/* until the memory that was lent is taken
					 * back; 0: half of stall_ms */
	unsigned int max_sessions;
	unsigned int session_ttl_ms;	/* kept this long without a connection */
	unsigned int stall_ms;		/* a connection ends that has no HELLO or
					 * moves no bulk data for so long; 0: 10000 */
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
/* Whether a server could listen there; an error is logged. */
int rpc_server_try(const struct fabric *fabric, const struct addr *addr);
/* The address in use (with the port that was chosen). */
void rpc_server_addr(const struct rpc_server *server, struct addr *addr);
struct rpc_server_stats {
	uint64_t requests, sessions, protocol_errors, replays;
	uint64_t fast;			/* of the requests: by Fast RDMA */
	uint64_t placed;		/* replies by RDMA Write with immediate */
	uint64_t fast_refused;		/* connections that got no buffers */
	size_t fast_bytes;		/* of buffers, now */
	uint64_t rdma_waits;		/* bulks that had to wait */
	uint64_t rdma_cut;		/* bulks under way when a connection ended */
	uint64_t rdma_most;		/* bytes outstanding, the sum of each
					 * context's most */
	uint64_t carried, carried_bytes; /* bulks that clients moved */
	uint64_t carry_declined;	/* that clients did not want to */
	uint64_t carry_late;		/* that were taken back from clients */
};
void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats);

struct rpc_session_info {
	uint64_t id;
	enum wire_role role;
	struct rpc_cred cred;
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
 * the latest.
 */
#define RPC_FENCE_MAX 65536u
void rpc_server_fence(struct rpc_server *server, uint64_t session);

#include "rpc_req.h"
#include "rpc_bulk.h"

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_call.h - calls to servers, part of rpc.h. */
#ifndef RPC_CALL_H
#define RPC_CALL_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "common/trust/handshake.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/wire/security_mode.h"

struct rpc_peer;
struct rpc_caps_query;

/*
 * The capabilities of a client, for iods that require them.  The first request on a connection
 * that needs a capability carries it.  A request carries it again if the iod asks for it
 * (ENOKEY).
 */
struct rpc_caps_source {
	/*
	 * Puts what server query->index has to see on that connection into out: a struct wire_caps
	 * and what it announces.  out has room bytes, aligned to 8.  Returns the length.  Returns
	 * 0 if there is nothing to show, or if it was already shown there and must is not set.
	 */
	size_t (*append)(void *arg, const struct rpc_caps_query *query,
			 void *out, size_t room);
	void *arg;
};
struct rpc_caps_query {
	uint32_t index, epoch;
	const struct wire_need *need;
	unsigned int n;
	bool must;
};

struct rpc_peer_attr {
	/* pvfs://: over the best rail that answers, chosen at each connect */
	struct addr addr;
	/*
	 * Not 0: the managers of a file system, addr is the first of them.  One of them leads, and
	 * the peer connects to that one (leader_search.h).  At most WIRE_MGR_MAX; copied.
	 */
	unsigned int nmanagers;
	const struct addr *managers;
	const char *name;		/* "iod 2", for messages; copied */
	/* what to check when it is unreachable, or NULL; outlives the peer */
	const char *fix;
	/* it was already logged that another service is there */
	bool stranger;
	enum wire_role role;		/* our role */
	uint64_t fsid;			/* 0: any */
	/* one per client instance, random, not 0 */
	uint64_t session;
	const struct rpc_cred *cred;	/* copied */
	/*
	 * NULL: nothing is proved.  Else both ends prove themselves, and the server must be the
	 * one below.  A client that has no ticket yet does not prove itself, and neither does its
	 * server.  Outlives the peer.
	 */
	const struct prover *prover;
	/*
	 * With prover: the minimum for connections that can be sealed, once they are proved.
	 */
	enum seal_mode seal;
	enum wire_role server;		/* for prover: the role of the server */
	/*
	 * for prover: the number of an iod.  Also selects which of several devices its connection
	 * tries first.
	 */
	uint32_t index;
	const struct rpc_caps_source *caps; /* or NULL; outlives the peer */
	/*
	 * WIRE_FT_* that we understand, without _V3, and without _PROOF, which prover implies
	 */
	uint32_t features;
	/*
	 * The name under which the server counts us: 1 to WIRE_JOB_MAX printable characters;
	 * NULL: none.  Copied.
	 */
	const char *job;
	/*
	 * Until the first connection, a failed connect ends all calls with its error and logs
	 * nothing.  Exception: -EBUSY.  -ENOTCONN: none of several managers leads.
	 */
	bool impatient;
	/*
	 * With impatient, of several managers: they are asked again so many times if one of them runs and
	 * does not lead, or does not answer in time.
	 */
	unsigned int more_rounds;
	/* calls go to several such peers at a time and are awaited together */
	bool group;
	/*
	 * Not 0: if calls wait and the server sends nothing for this long, calls fail
	 * immediately.  Calls that start before that end soon after it (silence_int.h).
	 */
	unsigned int patience_ms;
	/*
	 * First contact, or the server no longer knows the session.  May start calls; they follow
	 * those in flight, which were sent again.  May be NULL.
	 */
	void (*on_new_session)(void *arg, struct rpc_peer *peer);
	/*
	 * Contact with a new process of the server, whether or not it knows the session.
	 * Otherwise as fresh.  May be NULL.
	 */
	void (*on_new_process)(void *arg, struct rpc_peer *peer, uint64_t boot);
	/*
	 * The connection was lost, or an attempt to connect failed, with status (-ECONNREFUSED:
	 * nobody listens there).  May be NULL.
	 */
	void (*lost)(void *arg, int status);
	void *arg;
};

/*
 * A server as a client sees it.  Connects at the first call.  Never blocks.  Returns 0 or
 * -ENOMEM.
 */
int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **peer);
/*
 * Calls in flight end with -ECANCELED before it returns.  bye: tell the server that the session
 * ends (best effort, without waiting for an answer).
 */
void rpc_peer_close(struct rpc_peer *peer, bool bye);
/*
 * Whether a change of an object was given up after it was sent, and never answered.  The server
 * may still carry it out.
 */
bool rpc_peer_has_unanswered(const struct rpc_peer *peer);
/*
 * rpc_peer_has_unanswered() is true of another server.  So BYE to this one says that the session
 * ends unclean.
 */
void rpc_peer_set_unclean(struct rpc_peer *peer);
/* "iod 2 (tcp://10.0.0.7:7000)"; lives with the peer. */
const char *rpc_peer_name(const struct rpc_peer *peer);
/* The server of the connection, or of the last attempt: of several managers, the leader. */
const struct addr *rpc_peer_addr(const struct rpc_peer *peer);
/*
 * The transport in use ("local"; "-": none yet) and the reason ("same host"; "local: another
 * host; verbs: not in this build").  Both change when the peer reconnects.
 */
const char *rpc_peer_transport(const struct rpc_peer *peer);
const char *rpc_peer_reason(const struct rpc_peer *peer);
/*
 * What a full server lacks, and how to fix that.  A full server refuses all except the tools of
 * its administrator, with -WIRE_ENOFILES or -WIRE_ENOSEATS.
 */
#define RPC_NO_FILES "the server has no room: few descriptors are left, raise " \
		     "LimitNOFILE of its unit (systemctl edit)"
#define RPC_NO_SEATS "the server has no room: max_sessions, or host_sessions, " \
		     "clients are there, raise that in its pvfs.conf"
/* Returns which of these, if the server is full but accepted us; 0: it is not full. */
int rpc_peer_shortage(const struct rpc_peer *peer);
/* How the connection is sealed, and whether a connection over this transport can be. */
enum seal_mode rpc_peer_seal(const struct rpc_peer *peer);
bool rpc_peer_seals(const struct rpc_peer *peer);
/*
 * Closes the connection, if there is one, and makes another for the same session, because there
 * is something to prove now.  Calls in flight are sent again.
 */
void rpc_peer_reconnect(struct rpc_peer *peer);
/*
 * Whether the connection can be sealed late: after an answer that is the last unsealed message.
 * The keys cover all messages before.  Returns false after rpc_peer_stop_transcript(): the server
 * will not seal it.  Call all three from the thread that drives the context.
 */
bool rpc_peer_can_seal_late(const struct rpc_peer *peer);
void rpc_peer_stop_transcript(struct rpc_peer *peer);
/*
 * Returns -ESTALE if the connection no longer has that epoch or cannot be sealed.  Returns 0 if it
 * is sealed, or if sealing failed and the peer reconnects.
 */
int rpc_peer_seal_late(struct rpc_peer *peer, uint32_t epoch,
		       const struct seal_in_place *in_place);
/* Whether it is connected.  Call it from the thread that drives the context. */
bool rpc_peer_ready(const struct rpc_peer *peer);
/*
 * The features, and WIRE_FT_V3, that the server also named on this connection or the last one; 0:
 * there was none.  From any thread.  A replayed request may meet a later version of the server,
 * which accepts what this one does.  An earlier version never starts again on a store of this
 * one.
 */
uint32_t rpc_peer_features(const struct rpc_peer *peer);
/*
 * rpc_peer_epoch(): of the connection; 0: it is not ready.  rpc_peer_boot(): of the server
 * process; 0: never connected.
 */
uint32_t rpc_peer_epoch(const struct rpc_peer *peer);
uint64_t rpc_peer_boot(const struct rpc_peer *peer);
/*
 * Whether the server refused the session because an administrator evicted it.  Its calls end with
 * -ESTALE.  From any thread.
 */
bool rpc_peer_evicted(const struct rpc_peer *peer);
/*
 * Converts when, a time of our clock_boot() that is not in the past, to the server's clock.  The
 * result is never later than the true time there; 0: its clock is unknown.
 */
uint64_t rpc_peer_server_time(const struct rpc_peer *peer, uint64_t when);
/*
 * As tp_ep_take(): descriptors that came before a reply.  Call it in done() of that call.
 */
int rpc_peer_take_fds(struct rpc_peer *peer, int *fd, unsigned int n);
/* Maximum payload that is sent in a message on the rail in use. */
uint32_t rpc_peer_inline_max(const struct rpc_peer *peer);

/*
 * How the payload of requests was transferred (payload_int.h): in a message, by Fast RDMA, or
 * moved by servers.  From any thread.  A request that is sent again counts again.
 */
struct rpc_payload_counts {
	uint64_t inlined, fast, direct;
	uint64_t whole; /* of direct: reads that ended without a reply */
};
void rpc_ctx_payload_counts(const struct rpc_ctx *ctx,
			    struct rpc_payload_counts *counts);

/*
 * A call.  The caller owns it and keeps it from rpc_call_start() until done().  msg is a
 * message built with wire_begin()/wire_end(); it is copied at the start.  data is inline data,
 * gathered from the caller's memory, which must not change until done().
 *
 * The struct wire_mem pieces of msg name memory by addr and len.  Each lies within one of
 * area[0..nareas).  Their rkeys are filled in each time the message is sent, for the rail in use.
 * An area is registered there when needed.  area and all that it points to must stay valid until
 * done(), and belong to the thread of the ctx meanwhile.  Without areas, the pieces stay as they
 * are.
 *
 * Few bytes of a WRITE may be sent with the message (payload_int.h); then nothing is registered.
 * If bounce is set, the bytes of a READ may land in a buffer, from which the caller copies them.
 * If only an adapter or the server places bytes, a READ with terse set that gets all its bytes
 * ends with the last of them.  The reply is empty then (whole).
 */
struct rpc_call {
	const void *msg;
	/* as wire_end() returned, without data */
	size_t msg_len;
	const struct iovec *data;	/* copied; the memory is not */
	unsigned int ndata;		/* at most RPC_DATA_MAX */
	struct rail_mem *const *area;
	unsigned int nareas;
	/* struct wire_mem in msg: byte offset, number */
	unsigned int pieces_at, npieces;
	uint64_t deadline;		/* absolute; never CLOCK_NEVER */
	/*
	 * The user of a session that serves many.  Slots are shared between users.  0: none.
	 */
	uint32_t user;
	/* uses the slot reserved for such calls; at most one at a time */
	bool urgent;
	/*
	 * Bytes of payload.  While others move many bytes for us, the thread sleeps instead of
	 * polling.
	 */
	uint64_t bytes;
	/* calls with the same value are awaited together; NULL: none */
	const void *joined;
	bool bounce;			/* done() copies from landed */
	/* a READ may end without a reply: see whole */
	bool reply_optional;
	/* no log line at the deadline: the caller retries, or logs itself */
	bool quiet;
	/* The peer's patience does not apply: the answer takes long, or nobody waits. */
	bool patient;
	void (*done)(struct rpc_call *call);
	/*
	 * The connection broke because memory of a call was not accessible.  Returns true if it
	 * was memory of this call, which then ends with -EFAULT; the others are sent again.
	 * NULL: false.
	 */
	bool (*faulty)(struct rpc_call *call);
	void *arg;

	/*
	 * Results, for done().  status: 0, -errno, or WIRE_REDIRECT.  With 0 and WIRE_REDIRECT,
	 * reply is a parsed message, valid only in done().
	 */
	int status;
	/* The status is not from the server, which may have executed the request. */
	bool unsure;
	struct wire_msg reply;
	/*
	 * Status 0 without a reply: all requested bytes were read.  The object continues after
	 * them to an unknown end.
	 */
	bool whole;
	/*
	 * In done(), with status 0: the bytes of all pieces, one after the other; NULL: they are
	 * in place.
	 */
	const void *landed;

	/* private */
	struct rpc_call_priv {
		TAILQ_ENTRY(rpc_call) link;
		struct rpc_due due;
		struct rpc_peer *peer;
		int where;		/* slot, or CALL_* in call.c */
		enum wire_wait kind;	/* which slots it may use */
		uint64_t began;
		uint64_t moving;	/* bytes that others move for us */
		void *copy;		/* while it waits for a slot */
		bool answer_due;		/* counts in silence.owing */
	} p;
};
#define RPC_DATA_MAX 64u

/*
 * Never fails: errors come through done(), which is not called from here.  After done(), the
 * server no longer accesses memory of the caller that the message names (wire_mem).  Exception:
 * with -ETIMEDOUT or -ECANCELED, deregister the memory before reuse.  A late access then breaks
 * the connection, and the peer reconnects.
 */
void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call);
/*
 * Calls done() with -ECANCELED now, if the call is still outstanding.  call was started before,
 * or is zeroed.
 */
void rpc_call_cancel(struct rpc_call *call);
/*
 * Another call of the same operation ended with status.  Cancels this call if status is an error
 * that a server answered and the server of this call is not connected: nobody needs the answer
 * any more.  Does not cancel a change that was sent.  The server may carry that out until its
 * deadline, and no one may be told before that it failed.
 */
void rpc_call_cancel_unneeded(struct rpc_call *call, int status);

#endif

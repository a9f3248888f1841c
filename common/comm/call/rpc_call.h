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
	 * Writes the capabilities that iod query->index needs for query->need to out: a struct
	 * wire_caps and its capabilities.  out has room for room bytes, aligned to 8.  Returns the
	 * number of bytes.  Returns 0 if the client has none, or if query->must is not set and it
	 * has already shown them on the connection query->epoch.
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
	/* pvfs:// means the best rail that answers, chosen at each connect */
	struct addr addr;
	/*
	 * If not 0, the server is the one of these managers that leads (leader_search.h). addr is
	 * the first of managers. At most WIRE_MGR_MAX; copied.
	 */
	unsigned int nmanagers;
	const struct addr *managers;
	const char *name;		/* "iod 2", for messages; copied */
	/* advice for log lines when the server is unreachable, or NULL; outlives the peer */
	const char *fix;
	/* the caller has already logged that another service listens at addr */
	bool wrong_service_logged;
	enum wire_role role;		/* our role */
	/* 0 if the server may belong to any file system */
	uint64_t fsid;
	/* a random number, not 0, of this client instance */
	uint64_t session;
	const struct rpc_cred *cred;	/* copied */
	/*
	 * If NULL, there is no authentication. Otherwise client and server authenticate to each
	 * other, and the server must have the role `server` and the number `index`. While the
	 * client has no ticket, neither end authenticates. Outlives the peer.
	 */
	const struct prover *prover;
	/* with prover, the minimum for authenticated connections that can be sealed */
	enum seal_mode seal;
	/* with prover, the role of the server */
	enum wire_role server;
	/*
	 * With prover, the number of an iod. Also selects which of several devices the connection
	 * to this server tries first.
	 */
	uint32_t index;
	const struct rpc_caps_source *caps; /* may be NULL; outlives the peer */
	/* the WIRE_FT_* that this client supports, except _V3, and _PROOF, which prover implies */
	uint32_t features;
	/*
	 * The name under which the server counts us: 1 to WIRE_JOB_MAX printable characters, or
	 * NULL if there is none. Copied.
	 */
	const char *job;
	/*
	 * A failed connect, except with -EBUSY, ends all calls with its error and is not logged.
	 * -ENOTCONN means that none of several managers leads. Has no effect after the first
	 * connection.
	 */
	bool impatient;
	/*
	 * With impatient and several managers: the number of further rounds in which the peer asks
	 * all managers, if one of them runs but does not lead, or does not answer in time.
	 */
	unsigned int more_rounds;
	/* calls go to several such peers at a time and are awaited together */
	bool group;
	/*
	 * If not 0, and if calls wait and the server sends nothing for this long, these calls end,
	 * and later calls fail immediately until the server sends something (silence_int.h).
	 */
	unsigned int patience_ms;
	/*
	 * May be NULL. Called after the first connection, and after a connection to a server that
	 * no longer knew the session. May start calls: they are sent after the calls in flight,
	 * which the peer has sent again.
	 */
	void (*on_new_session)(void *arg, struct rpc_peer *peer);
	/*
	 * May be NULL. Called after the first connection to each new process of the server, even if
	 * that process knows the session. boot identifies the process. May start calls.
	 */
	void (*on_new_process)(void *arg, struct rpc_peer *peer, uint64_t boot);
	/*
	 * May be NULL. Called after the connection was lost or a connect failed. status is -errno;
	 * -ECONNREFUSED means that no process listens at the address.
	 */
	void (*lost)(void *arg, int status);
	void *arg;
};

/*
 * Creates *peer, which represents a server.  The peer connects at the first call; no function
 * of it blocks.  The caller releases it with rpc_peer_close().  Returns 0 or -ENOMEM.
 */
int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **peer);
/*
 * Ends the calls in flight with -ECANCELED, and closes the connection. If `bye` is true, it also
 * sends BYE, which ends the session at the server, and does not wait for a reply.
 */
void rpc_peer_close(struct rpc_peer *peer, bool bye);
/*
 * Returns true if a call that changes an object timed out or was cancelled after it was sent, and
 * was never answered.  The server may still execute it.
 */
bool rpc_peer_has_unanswered(const struct rpc_peer *peer);
/*
 * Called if rpc_peer_has_unanswered() is true for another server of the session: the BYE to this
 * server then says that requests of the session may still be executed elsewhere.
 */
void rpc_peer_set_unclean(struct rpc_peer *peer);
/*
 * Called when the manager has acknowledged something that it records only together with the
 * session. If a later manager does not know the session, that manager ends it (WIRE_FT_RECORDED).
 * Any thread may call this.
 */
void rpc_peer_set_recorded(struct rpc_peer *peer);
/* Returns a text such as "iod 2 (tcp://10.0.0.7:7000)", which lives with the peer. */
const char *rpc_peer_name(const struct rpc_peer *peer);
/*
 * Returns the address of the connection, or of the last attempt. Of several managers, it is the
 * leader's.
 */
const struct addr *rpc_peer_addr(const struct rpc_peer *peer);
/*
 * Return the transport in use ("local", or "-" if there is none yet), and the reason for it ("same
 * host"; "local: another host; verbs: not in this build"). Both change when the peer reconnects.
 */
const char *rpc_peer_transport(const struct rpc_peer *peer);
const char *rpc_peer_reason(const struct rpc_peer *peer);
/*
 * Messages for a full server, which accepts only the tools of its administrator and rejects
 * other clients with -WIRE_ENOFILES (few descriptors) or -WIRE_ENOSEATS (too many sessions).
 */
#define RPC_NO_FILES "the server has no room: few descriptors are left, raise " \
		     "LimitNOFILE of its unit (systemctl edit)"
#define RPC_NO_SEATS "the server has no room: max_sessions, or host_sessions, " \
		     "clients are there, raise that in its pvfs.conf"
/* Returns -WIRE_ENOFILES or -WIRE_ENOSEATS if the server is full but accepted us; otherwise 0. */
int rpc_peer_shortage(const struct rpc_peer *peer);
/*
 * Return how the connection is sealed, and whether a connection over this transport can be sealed.
 */
enum seal_mode rpc_peer_seal(const struct rpc_peer *peer);
bool rpc_peer_seals(const struct rpc_peer *peer);
/*
 * Called when the client has got a ticket: closes the connection, if there is one, and opens
 * another for the same session, on which the client can authenticate.  The peer sends the calls
 * in flight again.
 */
void rpc_peer_reconnect(struct rpc_peer *peer);
/*
 * Sealing an open connection.  Only the thread that drives the context may call these three.
 * rpc_peer_can_seal_late() returns true if the connection can be sealed after a reply, the last
 * unsealed message; the keys then depend on all messages before.  It returns false after
 * rpc_peer_stop_transcript(), which the caller calls if the server will not seal the connection.
 */
bool rpc_peer_can_seal_late(const struct rpc_peer *peer);
void rpc_peer_stop_transcript(struct rpc_peer *peer);
/*
 * Seals the connection with the number epoch. Returns 0, also if sealing failed and the peer
 * therefore reconnects. Returns -ESTALE if epoch is not the present connection, or if this
 * connection cannot be sealed.
 */
int rpc_peer_seal_late(struct rpc_peer *peer, uint32_t epoch,
		       const struct seal_in_place *in_place);
/* Returns whether the peer is connected. Only for the thread that drives the context. */
bool rpc_peer_ready(const struct rpc_peer *peer);
/*
 * Returns the features (including WIRE_FT_V3) that both client and server named on the present or
 * the last connection, or 0 if there was none. Any thread may call it. A request that was built for
 * these features stays valid if it is sent again after a restart of the server, because a server is
 * never downgraded.
 */
uint32_t rpc_peer_features(const struct rpc_peer *peer);
/*
 * rpc_peer_epoch() returns the number of the connection, or 0 if it is not ready. rpc_peer_boot()
 * returns the random number of the server process, or 0 if the peer was never connected.
 */
uint32_t rpc_peer_epoch(const struct rpc_peer *peer);
uint64_t rpc_peer_boot(const struct rpc_peer *peer);
/*
 * Returns true if the server rejected the session because an administrator evicted it.  Calls of
 * such a session end with -ESTALE.  Any thread may call it.
 */
bool rpc_peer_evicted(const struct rpc_peer *peer);
/*
 * Converts `when`, a present or future time of this host's clock_boot(), to that of the server's
 * host. The result may be early, but never late. Returns 0 if the server's clock is unknown.
 */
uint64_t rpc_peer_server_time(const struct rpc_peer *peer, uint64_t when);
/*
 * Takes the file descriptors that the server sent before a reply.  Called in done() of that call;
 * parameters and result: see tp_ep_take().
 */
int rpc_peer_take_fds(struct rpc_peer *peer, int *fd, unsigned int n);
/* Returns the maximum payload that is sent in a message on the rail in use. */
uint32_t rpc_peer_inline_max(const struct rpc_peer *peer);

/*
 * Counts requests by how their payload was transferred (payload_int.h): in the message, by Fast
 * RDMA, or by RDMA of the server (direct).  A request that is sent again counts again.  Any
 * thread may call rpc_ctx_payload_counts().
 */
struct rpc_payload_counts {
	uint64_t inlined, fast, direct;
	/* the part of direct that are reads which ended without a reply */
	uint64_t whole;
};
void rpc_ctx_payload_counts(const struct rpc_ctx *ctx,
			    struct rpc_payload_counts *counts);

/*
 * A call.  The caller owns it, and must not change or free it from rpc_call_start() until
 * done().  msg is a message built with wire_begin()/wire_end(), which rpc_call_start() copies.
 * data is inline data: the client gathers it from the caller's memory, which must not change
 * until done().
 *
 * The struct wire_mem pieces of msg name memory by addr and len.  Each piece lies within one of
 * area[0..nareas).  Each time the message is sent, the peer registers the areas with the rail in
 * use if necessary, and fills in the rkeys of the pieces.  area, and all that it points to, must
 * stay valid until done(), and only the thread of the ctx may use it meanwhile.  If nareas is 0,
 * the peer leaves the pieces unchanged.
 *
 * A small WRITE may have its bytes in the message (payload_int.h); then nothing is registered.
 * If bounce is set, the bytes of a READ may arrive in a buffer of the peer, from which the caller
 * copies them in done().  If reply_optional is set, a READ of which all bytes arrived by RDMA may
 * end without a reply (whole).
 */
struct rpc_call {
	const void *msg;
	/* length that wire_end() returned, without data */
	size_t msg_len;
	/* the array is copied; the memory is not */
	const struct iovec *data;
	unsigned int ndata;		/* at most RPC_DATA_MAX */
	struct rail_mem *const *area;
	unsigned int nareas;
	/* the struct wire_mem in msg: their byte offset and their number */
	unsigned int pieces_at, npieces;
	/* copyset of the objects in msg; zeros mean the server's own copyset */
	struct copyset_ref copyset;
	uint64_t deadline;		/* absolute; never CLOCK_NEVER */
	/* the user, for fair shares of the slots in a session that serves many users; 0 if none */
	uint32_t user;
	/* uses the slot reserved for such calls; at most one at a time */
	bool urgent;
	/*
	 * bytes of payload; if servers move many bytes for us, the thread sleeps instead of polling
	 */
	uint64_t bytes;
	/* calls with the same value are awaited together; NULL if there are none */
	const void *joined;
	/* done() copies the data from `landed` */
	bool bounce;
	/* a READ may end without a reply; then `whole` is set */
	bool reply_optional;
	/* do not log the deadline: the caller retries, or logs it */
	bool quiet;
	/* patience_ms of the peer does not apply: the reply takes long, or no thread waits */
	bool patient;
	void (*done)(struct rpc_call *call);
	/*
	 * Called when the connection broke because memory of some call was not accessible.  Returns
	 * true if memory of this call is not accessible; the call then ends with -EFAULT.  If it
	 * returns false, or faulty is NULL, the peer sends the call again.
	 */
	bool (*faulty)(struct rpc_call *call);
	void *arg;

	/*
	 * Results, for done(). status is 0, -errno, or WIRE_REDIRECT. With 0 and WIRE_REDIRECT,
	 * reply is a parsed message, valid only in done().
	 */
	int status;
	/* status is not from the server: it is unknown whether the server executed the request */
	bool unsure;
	struct wire_msg reply;
	/*
	 * Only with status 0. There is no reply, because all requested bytes of a READ have
	 * arrived. The object continues after them to an unknown end.
	 */
	bool whole;
	/*
	 * In done(), with status 0: a buffer with the bytes of all pieces, which the caller must
	 * copy. NULL if the bytes are in the caller's memory.
	 */
	const void *landed;

	/* private */
	struct rpc_call_priv {
		TAILQ_ENTRY(rpc_call) link;
		struct rpc_due due;
		struct rpc_peer *peer;
		int where;		/* slot, or CALL_* in call.c */
		/* kind of the call, which determines the slots that it may use */
		enum wire_wait kind;
		uint64_t began;
		/* bytes that a server moves for this call */
		uint64_t moving;
		/* the message, while the call waits for a slot */
		void *copy;
		bool answer_due;		/* counts in silence.owing */
	} p;
};
#define RPC_DATA_MAX 64u

/*
 * Starts the call.  The peer later calls done(), also after an error, but never inside this
 * function.  After done(), the server no longer accesses the caller's memory, except if the
 * status is -ETIMEDOUT or -ECANCELED.  Then the caller must deregister the memory before it is
 * reused: a late access of the server breaks the connection, and the peer reconnects.
 */
void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call);
/*
 * Calls done() with -ECANCELED, unless the call has ended or was never started (*call is all
 * zero).
 */
void rpc_call_cancel(struct rpc_call *call);
/*
 * Called when another call of the same operation has ended with status.  If status is an error
 * from a server, this call's result is no longer needed, and waiting is useless if its own server
 * is not connected.  Then the function cancels the call.  It never cancels a change that was
 * sent: the server may execute it until its deadline, so the operation must not fail earlier.
 */
void rpc_call_cancel_unneeded(struct rpc_call *call, int status);

#endif
